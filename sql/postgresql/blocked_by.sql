-- Title: Who holds the locks that sessions of a run wait for
-- Needs: none (what sessions of other users do is shown with pg_read_all_stats)
-- License: none
-- Effect: reads only
-- Params: :run (the run's id, which is the application_name of its sessions)
-- Versions: PostgreSQL 14 and later
-- Who stands before another one in the queue blocks it too: those that wait themselves come last. A prepared
-- transaction has no session, and is listed as pid 0.
SELECT coalesce(a.leader_pid, a.pid)::text AS session_id, ahead.pid::text AS blocker,
       b.backend_type, b.usename::text AS user_name, b.application_name, b.state,
       extract(epoch FROM clock_timestamp() - b.xact_start)::float8 AS transaction_seconds,
       left(b.query, 1000) AS statement
  FROM pg_catalog.pg_stat_activity a
 CROSS JOIN LATERAL pg_catalog.unnest(pg_blocking_pids(a.pid)) AS ahead(pid)
  LEFT JOIN pg_catalog.pg_stat_activity b ON b.pid = ahead.pid
 WHERE a.application_name = :run AND a.wait_event_type = 'Lock'
 ORDER BY session_id, CASE WHEN b.wait_event_type = 'Lock' THEN 1 ELSE 0 END, b.xact_start;
