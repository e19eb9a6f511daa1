-- Title: Identity of the server, since when its counters count, and its current time
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT s.setting AS host,
       to_char(pg_postmaster_start_time() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') AS begun,
       extract(epoch FROM clock_timestamp())::float8 AS instant_seconds,
       to_char((SELECT d.stats_reset FROM pg_catalog.pg_stat_database d WHERE d.datname = current_database())
               AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') AS database_counts_since,
       to_char((SELECT b.stats_reset FROM pg_catalog.pg_stat_bgwriter b)
               AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') AS server_counts_since,
       to_char((SELECT w.stats_reset FROM pg_catalog.pg_stat_wal w)
               AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') AS wal_counts_since,
       (SELECT count(*) FROM pg_catalog.pg_stat_activity a WHERE a.backend_type = 'client backend') AS sessions,
       CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END AS role
  FROM pg_catalog.pg_settings s
 WHERE s.name = 'cluster_name';
