-- Title: Tables of a schema that hold rows themselves (partitions, not the partitioned table)
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema
-- Versions: PostgreSQL 14 and later
SELECT n.nspname::text AS schema_name, c.relname::text AS table_name,
       CASE WHEN c.reltuples >= 0 THEN c.reltuples::bigint END AS row_estimate,
       pg_table_size(c.oid) AS byte_count
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relkind IN ('r', 'm') AND c.relpersistence <> 't'
 ORDER BY byte_count DESC, c.relname;
