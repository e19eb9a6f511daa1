-- Title: Sessions of a run, and the statement that ends each
-- Needs: none for one's own sessions (another user's need pg_signal_backend to be ended)
-- License: none
-- Effect: reads only
-- Params: :run (the run's id, which is the application_name of its sessions)
-- Versions: PostgreSQL 14 and later
SELECT a.pid::text AS session_id,
       to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') AS begun,
       CASE WHEN a.state LIKE 'idle%' THEN 'no' ELSE 'yes' END AS at_work,
       pg_catalog.format('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND application_name = %L',
              a.pid, a.application_name) AS kill_text
  FROM pg_catalog.pg_stat_activity a
 WHERE a.application_name = :run AND a.leader_pid IS NULL AND a.pid <> pg_backend_pid()
 ORDER BY a.backend_start;
