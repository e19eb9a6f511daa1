-- Title: sessions of a run that wait for a transaction of another session, and whose it is
-- Needs: SELECT on SYS.V_$SESSION
-- License: none
-- Effect: reads only
-- Params: :run
-- Versions: 11.2 to 26ai
-- An ONLINE build waits for the transactions on its table one by one, without a limit (DDL_LOCK_TIMEOUT bounds the
-- wait for the table's own lock): seen as a TX enqueue, or as `blocking txn id for DDL`, which names no session.
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
   AND w.event IN ('enq: TX - row lock contention', 'blocking txn id for DDL');
