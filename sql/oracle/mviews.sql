-- Title: how a materialized view, or those of a schema, are refreshed, and whether they are fresh
-- Needs: to see the materialized views (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case; without a name all of the schema)
-- Versions: 11.2 to 26ai
SELECT v.owner AS schema_name,
       v.mview_name AS table_name,
       v.refresh_mode AS refresh_mode,
       v.refresh_method AS refresh_method,
       v.fast_refreshable AS fast_refreshable,
       v.updatable AS updatable,
       v.master_link AS master_link,
       v.staleness AS staleness,
       v.compile_state AS compile_state,
       v.last_refresh_type AS last_refresh_type,
       TO_CHAR(v.last_refresh_date, 'YYYY-MM-DD HH24:MI:SS') AS last_refresh_at
  FROM all_mviews v
 WHERE v.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND (:name IS NULL OR v.mview_name = :name);
