-- Title: how many tables of a schema (or one) have statistics that autovacuum would renew, or none at all
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name (null: every table of the schema)
-- Versions: PostgreSQL 14 and later
-- The threshold is autovacuum's own: autovacuum_analyze_threshold + autovacuum_analyze_scale_factor * rows.
SELECT count(*) AS table_count
  FROM pg_catalog.pg_stat_all_tables s
  JOIN pg_catalog.pg_class c ON c.oid = s.relid
 WHERE c.relkind IN ('r', 'm')
   AND c.relpersistence <> 't'
   AND s.schemaname = coalesce(:schema, current_schema())
   AND (:name::text IS NULL OR s.relname = :name)
   AND (coalesce(s.last_analyze, s.last_autoanalyze) IS NULL
        OR s.n_mod_since_analyze > current_setting('autovacuum_analyze_threshold')::float8
           + current_setting('autovacuum_analyze_scale_factor')::float8 * greatest(c.reltuples, 0));
