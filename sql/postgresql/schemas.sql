-- Title: Schemas but those of the system
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT n.nspname::text AS schema_name
  FROM pg_catalog.pg_namespace n
 WHERE n.nspname::text !~ '^pg_' AND n.nspname <> 'information_schema'
 ORDER BY n.nspname;
