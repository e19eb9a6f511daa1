-- Title: how many tables have pending statistics from a gathering
-- Needs: SELECT on DBA_TAB_PENDING_STATS
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :table (exact case, null for all)
-- Versions: 11.2 to 26ai
SELECT 'tables_gathered' AS metric_name,
       COUNT(DISTINCT p.table_name) AS metric_value,
       'tables' AS metric_unit
  FROM dba_tab_pending_stats p
 WHERE p.owner = :schema
   AND (:table IS NULL OR p.table_name = :table);
