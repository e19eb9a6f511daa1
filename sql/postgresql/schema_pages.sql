-- Title: Tables of a schema with as many bytes as ANALYZE finds pages for, biggest first, without opening each table
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema
-- Versions: PostgreSQL 14 and later
-- As schema_tables, whose sizes make the server open each table, its TOAST table and that one's index: of hundreds
-- that takes longer than many an ANALYZE. Here the pages that the last ANALYZE or VACUUM counted stand for the size,
-- more where rows came since; only what neither has seen is measured.
-- Of a table that another session holds alone the pages are told that were counted last; its partitions are not read.
WITH held AS MATERIALIZED (
  SELECT l.relation AS oid FROM pg_catalog.pg_locks l
   WHERE l.locktype = 'relation' AND l.mode = 'AccessExclusiveLock' AND l.pid <> pg_backend_pid()
     AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = current_database())
), taken AS MATERIALIZED (
  SELECT h.oid FROM held h UNION SELECT a.relid FROM held h CROSS JOIN pg_catalog.pg_partition_ancestors(h.oid) a
), listed AS MATERIALIZED (
  SELECT c.oid, n.nspname::text AS schema_name, c.relname::text AS table_name, c.relkind, c.reltuples, c.relpages
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relkind IN ('r', 'm', 'p')
     AND c.relpersistence <> 't'
     AND NOT EXISTS (SELECT FROM pg_catalog.pg_partition_ancestors(c.oid) a
                       JOIN pg_catalog.pg_class u ON u.oid = a.relid::oid
                      WHERE c.relispartition AND a.relid::oid <> c.oid AND u.relnamespace = c.relnamespace)
), leaves AS MATERIALIZED (
  SELECT l.oid, l.oid AS leaf FROM listed l WHERE l.relkind <> 'p'
   UNION ALL
  SELECT l.oid, t.relid FROM listed l CROSS JOIN pg_catalog.pg_partition_tree(l.oid) t
   WHERE l.relkind = 'p' AND l.oid NOT IN (SELECT oid FROM taken) AND t.isleaf
), sized AS (
  SELECT v.oid, sum(greatest(c.reltuples, 0))::bigint AS row_estimate,
         sum(CASE WHEN c.relpages > 0 AND c.reltuples > 0::real
                  THEN c.relpages::float8 * greatest(1::float8, pg_stat_get_live_tuples(c.oid)::float8 / c.reltuples::float8)
                  WHEN c.oid NOT IN (SELECT oid FROM taken)
                  THEN pg_catalog.pg_relation_size(c.oid)::float8 / current_setting('block_size')::float8 END)::bigint AS pages
    FROM leaves v
    JOIN pg_catalog.pg_class c ON c.oid = v.leaf
   GROUP BY v.oid
)
SELECT l.schema_name, l.table_name,
       CASE WHEN l.relkind = 'p' THEN s.row_estimate ELSE nullif(l.reltuples, '-1'::real)::bigint END AS row_estimate,
       coalesce(s.pages, greatest(l.relpages, 0))::bigint * current_setting('block_size')::bigint AS byte_count,
       CASE WHEN l.relkind = 'p' THEN 'yes' ELSE 'no' END AS parted
  FROM listed l
  LEFT JOIN sized s ON s.oid = l.oid
 ORDER BY byte_count DESC, l.table_name;
