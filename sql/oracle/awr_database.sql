-- Title: the database id of this container, and this instance
-- Needs: SELECT on SYS.V_$DATABASE and V_$INSTANCE
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT d.dbid AS dbid,
       i.instance_number AS instance_number
  FROM v$database d
 CROSS JOIN v$instance i;
