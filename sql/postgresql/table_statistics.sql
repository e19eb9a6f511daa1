-- Title: statistics of the tables of a schema (or one): whether autovacuum would renew them, and how old
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name (null: every table of the schema)
-- Versions: PostgreSQL 14 and later
-- No age: there are none. The threshold is autovacuum's own: autovacuum_analyze_threshold + scale_factor * rows.
SELECT s.relname AS table_name,
       CASE WHEN greatest(s.last_analyze, s.last_autoanalyze) IS NULL
              OR s.n_mod_since_analyze::float8 > current_setting('autovacuum_analyze_threshold')::float8
                 + current_setting('autovacuum_analyze_scale_factor')::float8 * greatest(c.reltuples, 0)
            THEN 'yes' ELSE 'no' END AS is_stale,
       extract(epoch FROM clock_timestamp() - greatest(s.last_analyze, s.last_autoanalyze))::float8 AS age_seconds,
       'no' AS is_locked
  FROM pg_catalog.pg_stat_all_tables s
  JOIN pg_catalog.pg_class c ON c.oid = s.relid
 WHERE c.relkind IN ('r', 'm', 'p')
   AND c.relpersistence <> 't'
   AND s.schemaname = coalesce(:schema, current_schema())
   AND (:name::text IS NULL OR s.relname = :name)
 ORDER BY s.relname;
