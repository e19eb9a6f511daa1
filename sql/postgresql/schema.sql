-- Title: Whether a schema exists
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema
-- Versions: PostgreSQL 14 and later
SELECT n.nspname::text AS schema_name,
       CASE WHEN has_schema_privilege(n.oid, 'CREATE') THEN 'yes' ELSE 'no' END AS may_create
  FROM pg_catalog.pg_namespace n
 WHERE n.nspname = :schema;
