-- Title: waits of the instance, idle ones left out: by class and by event
-- Needs: SELECT on SYS.V_$SYSTEM_EVENT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- Of what is `ranked` only the largest differences are kept.
SELECT 'wait ' || e.wait_class AS metric_name,
       SUM(e.time_waited_micro) / 1000000 AS metric_value,
       'seconds' AS metric_unit,
       'counter' AS metric_kind
  FROM v$system_event e
 WHERE e.wait_class <> 'Idle'
 GROUP BY e.wait_class
UNION ALL
SELECT 'event ' || e.event AS metric_name,
       e.time_waited_micro / 1000000 AS metric_value,
       'seconds' AS metric_unit,
       'ranked' AS metric_kind
  FROM v$system_event e
 WHERE e.wait_class <> 'Idle';
