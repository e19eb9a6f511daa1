-- Title: which session waits for a lock held by which other session
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
-- Who stands before another one in the queue blocks it too. pg_blocking_pids is asked for those alone that wait.
SELECT w.pid::text AS waiter,
       a.application_name AS waiter_name,
       extract(epoch FROM clock_timestamp() - w.since)::float8 AS waited_seconds,
       b.pid::text AS blocker,
       b.application_name AS blocker_name
  FROM (SELECT l.pid, min(l.waitstart) AS since FROM pg_catalog.pg_locks l WHERE NOT l.granted GROUP BY l.pid) AS w
 CROSS JOIN LATERAL pg_catalog.unnest(pg_blocking_pids(w.pid)) AS ahead(pid)
  JOIN pg_catalog.pg_stat_activity a ON a.pid = w.pid
  JOIN pg_catalog.pg_stat_activity b ON b.pid = ahead.pid;
