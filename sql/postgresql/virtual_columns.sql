-- Title: Generated columns: an INSERT gives them no value, all but virtual ones can be indexed
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: PostgreSQL 14 and later
SELECT a.attname::text AS column_name,
       CASE a.attgenerated WHEN 'v' THEN 'virtual' ELSE 'stored' END AS generation
  FROM pg_catalog.pg_attribute a
  JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relname = :name
   AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated <> ''
 ORDER BY a.attnum;
