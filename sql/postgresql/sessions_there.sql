-- Title: Sessions that the server has, of all users and databases
-- Needs: none (which sessions there are is shown to everybody)
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT a.pid::text AS session_id,
       CASE WHEN a.pid = pg_backend_pid() THEN 'yes' ELSE 'no' END AS asks
  FROM pg_catalog.pg_stat_activity a;
