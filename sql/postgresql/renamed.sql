-- Title: Under which name a relation is now that somebody renamed or moved to another schema
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name (the former ones), :oid
-- Versions: PostgreSQL 14 and later
SELECT c.relname AS new_name, n.nspname AS new_schema
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.oid = CAST(CAST(:oid AS text) AS oid)
   AND (n.nspname, c.relname) <> (coalesce(:schema, current_schema()), :name);
