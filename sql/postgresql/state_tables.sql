-- Title: What was done to each table of users, and what was read of it from disk
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT t.schemaname::text AS schema_name,
       t.relname::text AS table_name,
       t.seq_scan::float8 AS full_scans,
       t.seq_tup_read::float8 AS full_scan_rows,
       t.idx_scan::float8 AS index_scans,
       t.idx_tup_fetch::float8 AS index_rows,
       t.n_tup_ins::float8 AS rows_inserted,
       t.n_tup_upd::float8 AS rows_updated,
       t.n_tup_del::float8 AS rows_deleted,
       t.n_tup_hot_upd::float8 AS rows_updated_in_place,
       t.vacuum_count::float8 + t.autovacuum_count::float8 AS vacuums,
       t.analyze_count::float8 + t.autoanalyze_count::float8 AS analyzes,
       i.heap_blks_read::float8 AS blocks_read,
       i.heap_blks_hit::float8 AS blocks_hit,
       t.n_live_tup::float8 AS live_rows,
       t.n_dead_tup::float8 AS dead_rows,
       c.relpages::float8 * current_setting('block_size')::float8 AS table_bytes
  FROM pg_catalog.pg_stat_user_tables t
  JOIN pg_catalog.pg_statio_user_tables i ON i.relid = t.relid
  JOIN pg_catalog.pg_class c ON c.oid = t.relid
 ORDER BY COALESCE(t.seq_tup_read, 0) + COALESCE(t.idx_tup_fetch, 0) + t.n_tup_ins + t.n_tup_upd + t.n_tup_del DESC,
          t.relid
 LIMIT 2000;
