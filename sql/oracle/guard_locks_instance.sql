-- Title: which session is blocked by which other session, on this instance only
-- Needs: SELECT on SYS.V_$SESSION
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- A session that waits behind another one that waits itself is found by following the rows.
SELECT TO_CHAR(w.sid) AS waiter,
       w.client_identifier AS waiter_name,
       w.wait_time_micro / 1000000 AS waited_seconds,
       TO_CHAR(w.blocking_session) AS blocker,
       b.client_identifier AS blocker_name
  FROM v$session w
  JOIN v$session b
    ON b.sid = w.blocking_session
 WHERE w.blocking_session_status = 'VALID'
   AND w.state = 'WAITING';
