-- Title: how many tables of a schema have statistics gathered since an instant
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :table (exact case, null for all), :since (date and time by the clock of the database)
-- Versions: 11.2 to 26ai
SELECT 'tables_gathered' AS metric_name,
       COUNT(*) AS metric_value,
       'tables' AS metric_unit
  FROM all_tab_statistics s
 WHERE s.owner = :schema
   AND (:table IS NULL OR s.table_name = :table)
   AND s.object_type = 'TABLE'
   AND TO_CHAR(s.last_analyzed, 'YYYY-MM-DD HH24:MI:SS') >= :since;
