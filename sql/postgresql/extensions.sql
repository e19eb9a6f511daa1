-- Title: Extensions of this database, and the schema each is in
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT e.extname::text AS extension_name,
       n.nspname::text AS schema_name,
       e.extversion AS extension_version
  FROM pg_catalog.pg_extension e
  JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace;
