-- Title: how many tables of a schema have locked statistics, not counting dbatk's copy of statistics
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :metric (the name it is kept under), :schema (exact case), :table (exact case, null for all)
-- Versions: 11.2 to 26ai
SELECT :metric AS metric_name,
       COUNT(*) AS metric_value,
       'tables' AS metric_unit
  FROM all_tab_statistics s
 WHERE s.owner = :schema
   AND (:table IS NULL OR s.table_name = :table)
   AND s.object_type = 'TABLE'
   AND s.stattype_locked IS NOT NULL
   AND s.table_name NOT LIKE 'DBATK\_%\_S1' ESCAPE '\';
