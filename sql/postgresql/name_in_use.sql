-- Title: Objects that already have a given name: relations of all kinds, and types (a table makes a type too)
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: PostgreSQL 14 and later
SELECT n.nspname::text AS schema_name, c.relname::text AS object_name,
       CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned table' WHEN 'i' THEN 'index'
                      WHEN 'I' THEN 'partitioned index' WHEN 'S' THEN 'sequence' WHEN 'v' THEN 'view'
                      WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table'
                      WHEN 'c' THEN 'composite type' ELSE 'relation' END
       || CASE WHEN x.indisvalid THEN '' WHEN c.relkind IN ('i', 'I') THEN ' that is not valid' ELSE '' END
       AS object_kind
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_index x ON x.indexrelid = c.oid
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relname = :name
 UNION ALL
SELECT n.nspname::text, t.typname::text, 'type'
  FROM pg_catalog.pg_type t
  JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND t.typname = :name AND t.typrelid = 0::oid
   AND t.typelem = 0::oid;
