-- Title: waits of the instance by event, those of users apart, idle ones left out
-- Needs: SELECT on SYS.V_$SYSTEM_EVENT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- Times are in microseconds. The columns _FG contain the waits of user sessions, without background processes.
SELECT e.event AS event,
       e.wait_class AS wait_class,
       e.total_waits AS waits,
       e.time_waited_micro / 1000000 AS wait_seconds,
       e.total_waits_fg AS user_waits,
       e.time_waited_micro_fg / 1000000 AS user_wait_seconds
  FROM v$system_event e
 WHERE e.wait_class <> 'Idle';
