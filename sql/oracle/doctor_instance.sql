-- Title: the instance: host, start, state
-- Needs: SELECT on SYS.V_$INSTANCE
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT i.instance_number AS instance_number,
       i.instance_name AS instance_name,
       i.host_name AS host_name,
       i.version AS version,
       i.startup_time AS started_at,
       i.status AS status,
       i.parallel AS cluster_database,
       i.logins AS logins
  FROM v$instance i;
