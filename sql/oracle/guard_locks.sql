-- Title: which session is blocked by which other session, on all instances
-- Needs: SELECT on SYS.GV_$SESSION
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- A session that waits behind another one that waits itself is found by following the rows.
SELECT TO_CHAR(w.inst_id) || ':' || TO_CHAR(w.sid) AS waiter,
       w.client_identifier AS waiter_name,
       w.wait_time_micro / 1000000 AS waited_seconds,
       TO_CHAR(w.blocking_instance) || ':' || TO_CHAR(w.blocking_session) AS blocker,
       b.client_identifier AS blocker_name
  FROM gv$session w
  JOIN gv$session b
    ON b.inst_id = w.blocking_instance
   AND b.sid = w.blocking_session
 WHERE w.blocking_session_status = 'VALID'
   AND w.state = 'WAITING';
