-- Title: tables of a schema (or one) whose statistics are older than so many seconds, or that have none
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name (null: every table of the schema), :seconds
-- Versions: PostgreSQL 14 and later
SELECT s.schemaname AS schema_name, s.relname AS table_name
  FROM pg_catalog.pg_stat_all_tables s
  JOIN pg_catalog.pg_class c ON c.oid = s.relid
 WHERE c.relkind IN ('r', 'm')
   AND c.relpersistence <> 't'
   AND s.schemaname = coalesce(:schema, current_schema())
   AND (:name::text IS NULL OR s.relname = :name)
   AND (greatest(s.last_analyze, s.last_autoanalyze) IS NULL
        OR greatest(s.last_analyze, s.last_autoanalyze) < clock_timestamp() - make_interval(secs => :seconds))
 ORDER BY s.relname;
