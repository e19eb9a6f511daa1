-- Title: the instances of the cluster that are open
-- Needs: SELECT on SYS.V_$ACTIVE_INSTANCES
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT i.inst_number AS instance_number,
       i.inst_name AS instance_name
  FROM v$active_instances i;
