-- Title: why the next gathering of a measurement on a live schema would not be safe
-- Needs: SELECT on DBA_TABLES, DBA_TAB_STATISTICS, DBA_TAB_PENDING_STATS, DBA_TAB_STAT_PREFS, DBA_SCHEDULER_WINDOWS
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :table (exact case, null for all)
-- Versions: 11.2 to 26ai
SELECT DISTINCT 'pending statistics of ' || p.owner || '.' || p.table_name || ' exist that this run did not gather' AS reason
  FROM dba_tab_pending_stats p
 WHERE p.owner = :schema
   AND (:table IS NULL OR p.table_name = :table)
UNION ALL
SELECT 'PUBLISH of ' || t.owner || '.' || t.table_name || ' is not FALSE: its statistics would move' AS reason
  FROM dba_tables t
  JOIN dba_tab_statistics s
    ON s.owner = t.owner AND s.table_name = t.table_name AND s.object_type = 'TABLE'
   AND s.stattype_locked IS NULL
  LEFT JOIN dba_tab_stat_prefs f
    ON f.owner = t.owner AND f.table_name = t.table_name
   AND f.preference_name = 'PUBLISH' AND f.preference_value = 'FALSE'
 WHERE t.owner = :schema
   AND (:table IS NULL OR t.table_name = :table)
   AND t.dropped = 'NO'
   AND t.temporary = 'N'
   AND (t.iot_type IS NULL OR t.iot_type = 'IOT')
   AND f.table_name IS NULL
UNION ALL
SELECT 'the maintenance window ' || w.window_name || ' is open: its own statistics would be mixed with the measured ones' AS reason
  FROM dba_scheduler_windows w
 WHERE w.active = 'TRUE';
