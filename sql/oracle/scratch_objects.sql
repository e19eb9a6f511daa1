-- Title: tables and indexes under the names that dbatk generates
-- Needs: nothing; what this user may see (see identity.sql)
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT o.owner AS schema_name,
       o.object_name AS object_name,
       LOWER(o.object_type) AS object_kind,
       i.table_name AS table_name
  FROM all_objects o
  LEFT JOIN all_indexes i
    ON i.owner = o.owner AND i.index_name = o.object_name AND o.object_type = 'INDEX'
 WHERE SUBSTR(o.object_name, 1, 6) = 'DBATK_'
   AND o.object_type IN ('TABLE', 'INDEX')
   AND o.subobject_name IS NULL
 ORDER BY o.owner, o.object_name;
