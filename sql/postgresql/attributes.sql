-- Title: The storage parameter of a table that a run may set and puts back
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: PostgreSQL 14 and later
SELECT 'parallel_workers' AS name, NULL::text AS part,
       coalesce(substring(pg_catalog.array_to_string(c.reloptions, ',') FROM 'parallel_workers=([0-9]+)'), 'unset') AS value
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relname = :name;
