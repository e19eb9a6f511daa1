-- Title: What stands in the way of shrinking the partitions of a table
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
-- Of a partition with subpartitions those have the segments. USER_TABLESPACES as in shrinkable.sql.
SELECT p.partition_name AS partition_name,
       p.partition_name AS part_name,
       'partition' AS part_level,
       p.partition_position AS part_position,
       0 AS sub_position,
       p.compression AS compression,
       p.compress_for AS compress_for,
       p.tablespace_name AS tablespace_name,
       (SELECT ts.segment_space_management
          FROM user_tablespaces ts
         WHERE ts.tablespace_name = p.tablespace_name) AS segment_management
  FROM all_tab_partitions p
 WHERE p.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.table_name = :name
   AND p.composite = 'NO'
 UNION ALL
SELECT s.partition_name AS partition_name,
       s.subpartition_name AS part_name,
       'subpartition' AS part_level,
       0 AS part_position,
       s.subpartition_position AS sub_position,
       s.compression AS compression,
       s.compress_for AS compress_for,
       s.tablespace_name AS tablespace_name,
       (SELECT ts.segment_space_management
          FROM user_tablespaces ts
         WHERE ts.tablespace_name = s.tablespace_name) AS segment_management
  FROM all_tab_subpartitions s
 WHERE s.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND s.table_name = :name
 ORDER BY 4, 1, 5;
