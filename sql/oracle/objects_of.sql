-- Title: tables and indexes with the generated names of a run
-- Needs: to see the objects (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :prefix (their name up to the number)
-- Versions: 11.2 to 26ai
SELECT o.owner AS schema_name,
       o.object_name AS object_name,
       o.object_type AS object_kind
  FROM all_objects o
 WHERE SUBSTR(o.object_name, 1, LENGTH(:prefix)) = :prefix
   AND o.object_type IN ('TABLE', 'INDEX')
   AND o.subobject_name IS NULL;
