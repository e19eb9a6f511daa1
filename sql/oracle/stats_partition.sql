-- Title: one partition or subpartition of a table
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :table (exact case), :partition (exact case)
-- Versions: 11.2 to 26ai
SELECT s.object_type AS level_of_table
  FROM all_tab_statistics s
 WHERE s.owner = :schema
   AND s.table_name = :table
   AND (s.partition_name = :partition OR s.subpartition_name = :partition);
