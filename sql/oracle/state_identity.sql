-- Title: identity of the instance, since when its counters count, and its current time
-- Needs: SELECT on SYS.V_$INSTANCE
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- V$ views cover one instance: on a cluster only this one.
SELECT i.host_name AS host,
       i.instance_name AS instance,
       i.instance_number AS instance_number,
       i.parallel AS is_cluster,
       TO_CHAR(i.startup_time, 'YYYY-MM-DD HH24:MI:SS') AS begun,
       ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400) AS instant_seconds,
       SYS_CONTEXT('USERENV', 'INSTANCE_NAME') AS session_instance
  FROM v$instance i;
