-- Title: table preferences in a schema
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :table (exact case, null for all)
-- Versions: 11.2 to 26ai
SELECT p.table_name AS preferring_table,
       p.preference_name AS preference_name,
       p.preference_value AS preference_value
  FROM all_tab_stat_prefs p
 WHERE p.owner = :schema
   AND (:table IS NULL OR p.table_name = :table)
 ORDER BY p.table_name, p.preference_name;
