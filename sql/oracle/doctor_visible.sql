-- Title: objects of SYS and Statspack that this session may read or run
-- Needs: nothing: ALL_OBJECTS is open to everyone
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT o.owner AS owner_name,
       o.object_name AS object_name
  FROM all_objects o
 WHERE (o.owner = 'SYS'
        AND (o.object_name LIKE 'V\_$%' ESCAPE '\' OR o.object_name LIKE 'DBA\_%' ESCAPE '\')
        AND o.object_type = 'VIEW')
    OR (o.owner = 'PERFSTAT' AND o.object_name IN ('STATSPACK', 'STATS$SNAPSHOT'));
