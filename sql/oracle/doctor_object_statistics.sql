-- Title: statistics of the named tables: locked, pending, preferences
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the table (exact case)
-- Versions: 11.2 to 26ai
SELECT 'locked' AS what,
       s.owner AS on_schema,
       s.table_name AS on_table,
       s.stattype_locked AS item,
       CAST(NULL AS VARCHAR2(30)) AS detail
  FROM all_tab_statistics s
 WHERE s.stattype_locked IS NOT NULL
   AND s.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND s.table_name = :name
UNION ALL
SELECT 'pending' AS what,
       p.owner AS on_schema,
       p.table_name AS on_table,
       TO_CHAR(p.last_analyzed, 'YYYY-MM-DD HH24:MI:SS') AS item,
       p.partition_name AS detail
  FROM all_tab_pending_stats p
 WHERE p.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.table_name = :name
UNION ALL
SELECT 'preference' AS what,
       f.owner AS on_schema,
       f.table_name AS on_table,
       f.preference_name AS item,
       f.preference_value AS detail
  FROM all_tab_stat_prefs f
 WHERE f.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND f.table_name = :name;
