-- Title: direct-path loads of a run that wait for their table's lock, and who has it
-- Needs: SELECT on SYS.V_$SESSION
-- License: none
-- Effect: reads only
-- Params: :run
-- Versions: 11.2 to 26ai
-- A direct-path INSERT locks its table exclusively, and waits for that without a limit: DDL_LOCK_TIMEOUT is for DDL.
SELECT w.sql_id AS statement_id,
       w.wait_time_micro / 1000000 AS waited_seconds,
       CASE WHEN w.blocking_session IS NULL THEN 'a session that the server does not name'
            WHEN b.sid IS NULL THEN 'session ' || TO_CHAR(w.blocking_session) || ' on instance '
                 || TO_CHAR(w.blocking_instance)
            ELSE 'session ' || TO_CHAR(b.sid) || ',' || TO_CHAR(b.serial#) || ' of ' || COALESCE(b.username, '?')
                 || ' (' || COALESCE(b.program, '?') || ')'
       END AS blocker
  FROM v$session w
  LEFT JOIN v$session b
    ON b.sid = w.blocking_session
   AND w.blocking_instance = TO_NUMBER(SYS_CONTEXT('USERENV', 'INSTANCE'))
 WHERE w.client_identifier = :run
   AND COALESCE(w.program, '-') NOT LIKE '%(P___)%'
   AND w.state = 'WAITING'
   AND w.event = 'enq: TM - contention';
