-- Title: why statistics of a live schema must not be gathered as pending ones now
-- Needs: SELECT on DBA_TAB_PENDING_STATS, DBA_TAB_STAT_PREFS and DBA_SCHEDULER_WINDOWS
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :table (exact case, null for all)
-- Versions: 11.2 to 26ai
SELECT DISTINCT 'pending' AS hindrance,
       p.table_name AS hindered_table,
       'pending statistics of ' || p.owner || '.' || p.table_name || ' exist that this run did not gather' AS reason
  FROM dba_tab_pending_stats p
 WHERE p.owner = :schema
   AND (:table IS NULL OR p.table_name = :table)
UNION ALL
SELECT 'publish' AS hindrance,
       f.table_name AS hindered_table,
       'PUBLISH of ' || f.owner || '.' || f.table_name || ' is FALSE already: somebody works with pending statistics'
       AS reason
  FROM dba_tab_stat_prefs f
 WHERE f.owner = :schema
   AND (:table IS NULL OR f.table_name = :table)
   AND f.preference_name = 'PUBLISH'
   AND f.preference_value = 'FALSE'
UNION ALL
SELECT 'window' AS hindrance,
       NULL AS hindered_table,
       'the maintenance window ' || w.window_name || ' is open: its own statistics would be mixed with these' AS reason
  FROM dba_scheduler_windows w
 WHERE w.active = 'TRUE';
