-- Title: locked statistics, pending statistics and preferences of the user's own tables
-- Needs: nothing: ALL_ views
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT 'locked' AS what, COUNT(*) AS table_count, MIN(s.table_name) AS example
  FROM all_tab_statistics s
 WHERE s.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') AND s.stattype_locked IS NOT NULL
UNION ALL
SELECT 'pending' AS what, COUNT(*) AS table_count, MIN(p.table_name) AS example
  FROM all_tab_pending_stats p
 WHERE p.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
UNION ALL
SELECT 'preference ' || f.preference_name AS what, COUNT(*) AS table_count, MIN(f.table_name) AS example
  FROM all_tab_stat_prefs f
 WHERE f.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
 GROUP BY f.preference_name;
