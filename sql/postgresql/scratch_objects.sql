-- Title: Tables and indexes under the names that dbatk generates
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT n.nspname::text AS schema_name, c.relname::text AS object_name,
       CASE WHEN c.relkind IN ('i', 'I') THEN 'index' ELSE 'table' END AS object_kind,
       t.relname::text AS table_name
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_index x ON x.indexrelid = c.oid
  LEFT JOIN pg_catalog.pg_class t ON t.oid = x.indrelid
 WHERE c.relkind IN ('r', 'p', 'i', 'I') AND starts_with(c.relname::text, 'dbatk_')
 ORDER BY n.nspname, c.relname;
