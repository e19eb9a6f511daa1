-- Title: whether Statspack is installed and may be used
-- Needs: nothing: ALL_OBJECTS shows what is granted
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT o.object_name AS object_name
  FROM all_objects o
 WHERE o.owner = 'PERFSTAT'
   AND o.object_name IN ('STATSPACK', 'STATS$SNAPSHOT', 'STATS$SYSSTAT', 'STATS$SYSTEM_EVENT');
