-- Title: Which segment holds the rows of a table, and of each of its partitions
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
-- DATA_OBJECT_ID stays with the segment when a partition and a table are exchanged, OBJECT_ID with the name.
SELECT o.owner AS schema_name,
       o.object_name AS table_name,
       o.subobject_name AS part_name,
       o.data_object_id AS data_object_id
  FROM all_objects o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.object_name = :name
   AND o.object_type IN ('TABLE', 'TABLE PARTITION', 'TABLE SUBPARTITION')
 ORDER BY o.subobject_name;
