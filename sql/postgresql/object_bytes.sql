-- Title: Bytes of a table (with its TOAST) or of an index
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: PostgreSQL 14 and later
SELECT CASE WHEN c.relkind IN ('i', 'I') THEN pg_catalog.pg_relation_size(c.oid) ELSE pg_catalog.pg_table_size(c.oid) END AS byte_count
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relname = :name;
