-- Title: Materialized views of a schema, with their sizes
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema
-- Versions: PostgreSQL 14 and later
SELECT n.nspname::text AS schema_name, c.relname::text AS table_name,
       nullif(c.reltuples, '-1'::real)::bigint AS row_estimate,
       greatest(c.relpages, 0)::bigint * current_setting('block_size')::bigint AS byte_count
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relkind = 'm'
 ORDER BY byte_count DESC, c.relname;
