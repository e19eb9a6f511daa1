-- Title: What a table is: its columns
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: PostgreSQL 14 and later
SELECT 'column' AS name, a.attname::text AS value
  FROM pg_catalog.pg_attribute a
  JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relname = :name
   AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped;
