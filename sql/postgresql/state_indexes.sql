-- Title: How often each index was used, and what was read of it from disk
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT x.schemaname::text AS schema_name,
       x.indexrelname::text AS index_name,
       x.relname::text AS table_name,
       CASE WHEN d.indisvalid THEN 'valid' ELSE 'invalid' END AS state,
       x.idx_scan::float8 AS index_scans,
       x.idx_tup_read::float8 AS index_rows,
       i.idx_blks_read::float8 AS blocks_read,
       i.idx_blks_hit::float8 AS blocks_hit,
       c.relpages::float8 * current_setting('block_size')::float8 AS index_bytes
  FROM pg_catalog.pg_stat_user_indexes x
  JOIN pg_catalog.pg_statio_user_indexes i ON i.indexrelid = x.indexrelid
  JOIN pg_catalog.pg_class c ON c.oid = x.indexrelid
  JOIN pg_catalog.pg_index d ON d.indexrelid = x.indexrelid
 ORDER BY x.idx_scan DESC, x.indexrelid
 LIMIT 4000;
