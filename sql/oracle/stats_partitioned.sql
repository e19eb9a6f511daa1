-- Title: partitioned tables of a schema, with their own preference INCREMENTAL
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :table (exact case, null for all)
-- Versions: 11.2 to 26ai
SELECT t.table_name AS partitioned_table,
       p.preference_value AS incremental
  FROM all_tables t
  LEFT JOIN all_tab_stat_prefs p
    ON p.owner = t.owner AND p.table_name = t.table_name AND p.preference_name = 'INCREMENTAL'
 WHERE t.owner = :schema
   AND (:table IS NULL OR t.table_name = :table)
   AND t.partitioned = 'YES'
   AND t.dropped = 'NO'
   AND t.temporary = 'N'
 ORDER BY t.table_name;
