-- Title: Rows of a table or index as the last build or ANALYZE counted them
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: PostgreSQL 14 and later
SELECT CASE WHEN c.reltuples >= 0::real THEN c.reltuples::bigint END AS row_count
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relname = :name;
