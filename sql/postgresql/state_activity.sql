-- Title: What sessions of users wait for at this instant
-- Needs: pg_read_all_stats to see the sessions of others
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT COALESCE(a.wait_event_type || ':' || a.wait_event, 'on CPU') AS event,
       COALESCE(a.wait_event_type, 'CPU') AS wait_class,
       count(*)::float8 AS sessions
  FROM pg_catalog.pg_stat_activity a
 WHERE a.backend_type = 'client backend'
   AND a.state = 'active'
   AND a.pid <> pg_backend_pid()
   AND a.datname = current_database()
 GROUP BY 1, 2;
