-- Title: whether an index is not valid, as an interrupted CREATE INDEX CONCURRENTLY leaves it
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the index
-- Versions: PostgreSQL 14 and later
SELECT 'is not valid: its build was cut off' AS state,
       pg_catalog.format('DROP INDEX %I.%I', n.nspname, c.relname) AS remedy,
       'yes' AS cut_off
  FROM pg_catalog.pg_index i
  JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relname = :name AND NOT i.indisvalid;
