-- Title: Tables of a schema; a partitioned table stands for its partitions, which are read and analyzed with it
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema
-- Versions: PostgreSQL 14 and later
-- A partition whose partitioned table is in another schema stands for itself.
-- A size takes a lock: of a table that another session holds alone the last known size is told, so that one such
-- table keeps nobody from the others; of a partitioned table with such a partition none.
WITH held AS MATERIALIZED (
  SELECT l.relation AS oid FROM pg_catalog.pg_locks l
   WHERE l.locktype = 'relation' AND l.mode = 'AccessExclusiveLock' AND l.pid <> pg_backend_pid()
     AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = current_database())
), taken AS MATERIALIZED (
  SELECT h.oid FROM held h UNION SELECT a.relid FROM held h CROSS JOIN pg_catalog.pg_partition_ancestors(h.oid) a
)
SELECT n.nspname::text AS schema_name, c.relname::text AS table_name,
       CASE WHEN c.relkind <> 'p' THEN nullif(c.reltuples, '-1'::real)::bigint
            WHEN c.oid NOT IN (SELECT oid FROM taken)
            THEN (SELECT sum(greatest(l.reltuples, 0))::bigint FROM pg_catalog.pg_partition_tree(c.oid) t
                    JOIN pg_catalog.pg_class l ON l.oid = t.relid::oid WHERE t.isleaf) END AS row_estimate,
       CASE WHEN c.oid IN (SELECT oid FROM taken)
            THEN greatest(c.relpages, 0)::bigint * current_setting('block_size')::bigint
            WHEN c.relkind = 'p' THEN (SELECT coalesce(sum(pg_table_size(t.relid)), 0)::bigint
                                         FROM pg_catalog.pg_partition_tree(c.oid) t WHERE t.isleaf)
            ELSE pg_catalog.pg_table_size(c.oid) END AS byte_count
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relkind IN ('r', 'm', 'p') AND c.relpersistence <> 't'
   AND NOT EXISTS (SELECT FROM pg_catalog.pg_partition_ancestors(c.oid) a
                     JOIN pg_catalog.pg_class u ON u.oid = a.relid::oid
                    WHERE c.relispartition AND a.relid::oid <> c.oid AND u.relnamespace = c.relnamespace)
 ORDER BY byte_count DESC, c.relname;
