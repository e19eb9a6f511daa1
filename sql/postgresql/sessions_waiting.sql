-- Title: Sessions in this database that bear the id of a run and wait for their client, and the statement that ends each
-- Needs: none (pg_read_all_stats shows whether sessions of other users wait)
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT a.application_name AS run, a.pid::text AS session_id,
       round(extract(epoch FROM clock_timestamp() - a.state_change))::bigint AS waited_seconds,
       pg_catalog.format('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND application_name = %L',
              a.pid, a.application_name) AS kill_text
  FROM pg_catalog.pg_stat_activity a
 WHERE a.datname = current_database() AND a.state = 'idle' AND a.pid <> pg_backend_pid()
   AND a.application_name ~ '^[0-9]{8}-[0-9]{6}-[0-9a-f]{4}$'
 ORDER BY a.backend_start;
