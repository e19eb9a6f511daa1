-- Title: Tables of a schema; a partitioned table stands for its partitions, which are read and analyzed with it
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema
-- Versions: PostgreSQL 14 and later
-- A partition whose partitioned table is in another schema stands for itself.
SELECT n.nspname::text AS schema_name, c.relname::text AS table_name,
       CASE WHEN c.relkind = 'p' THEN (SELECT sum(greatest(l.reltuples, 0))::bigint FROM pg_partition_tree(c.oid) t
                                         JOIN pg_catalog.pg_class l ON l.oid = t.relid WHERE t.isleaf)
            WHEN c.reltuples >= 0 THEN c.reltuples::bigint END AS row_estimate,
       CASE WHEN c.relkind = 'p' THEN (SELECT coalesce(sum(pg_table_size(t.relid)), 0)::bigint
                                         FROM pg_partition_tree(c.oid) t WHERE t.isleaf)
            ELSE pg_table_size(c.oid) END AS byte_count
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relkind IN ('r', 'm', 'p') AND c.relpersistence <> 't'
   AND NOT EXISTS (SELECT FROM pg_partition_ancestors(c.oid) a
                     JOIN pg_catalog.pg_class u ON u.oid = a.relid
                    WHERE c.relispartition AND a.relid <> c.oid AND u.relnamespace = c.relnamespace)
 ORDER BY byte_count DESC, c.relname;
