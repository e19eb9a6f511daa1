-- Title: tables and indexes under the names that dbatk generates, in all schemas
-- Needs: SELECT on SYS.DBA_OBJECTS and SYS.DBA_INDEXES
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT o.owner AS schema_name,
       o.object_name AS object_name,
       LOWER(o.object_type) AS object_kind,
       i.table_name AS table_name
  FROM dba_objects o
  LEFT JOIN dba_indexes i
    ON i.owner = o.owner AND i.index_name = o.object_name AND o.object_type = 'INDEX'
 WHERE SUBSTR(o.object_name, 1, 6) = 'DBATK_'
   AND o.object_type IN ('TABLE', 'INDEX')
   AND o.subobject_name IS NULL
 ORDER BY o.owner, o.object_name;
