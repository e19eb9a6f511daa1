-- Title: subpartitions of a table
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT s.partition_name AS partition_name,
       s.subpartition_name AS part_name
  FROM all_tab_subpartitions s
 WHERE s.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND s.table_name = :name
 ORDER BY s.partition_name, s.subpartition_position;
