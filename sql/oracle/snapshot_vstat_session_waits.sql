-- Title: waits of the sessions of a run, idle ones left out
-- Needs: SELECT on SYS.V_$SESSION_EVENT and V_$SESSION
-- License: none
-- Effect: reads only
-- Params: :run
-- Versions: 11.2 to 26ai
-- The waits of parallel servers may not be in it. Of what is `ranked` only the largest differences are kept.
SELECT 'event ' || e.event || ' (session)' AS metric_name,
       SUM(e.time_waited_micro) / 1000000 AS metric_value,
       'seconds' AS metric_unit,
       'ranked' AS metric_kind
  FROM v$session_event e
  JOIN v$session s
    ON s.sid = e.sid
 WHERE s.client_identifier = :run
   AND s.sid <> TO_NUMBER(SYS_CONTEXT('USERENV', 'SID'))
   AND COALESCE(s.program, '-') NOT LIKE '%(P___)%'
   AND e.wait_class <> 'Idle'
 GROUP BY e.event;
