-- Title: lag of the standby servers, or of this server if it is a standby
-- Needs: pg_read_all_stats (pg_stat_replication shows others nothing)
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
-- The lag is null while a standby has nothing to catch up with. A standby that went away is seen by its slot alone.
SELECT coalesce(nullif(r.application_name, ''), 'standby ' || r.pid::text) AS standby_name,
       CASE WHEN r.state IS NOT NULL
            THEN extract(epoch FROM coalesce(r.replay_lag, r.flush_lag, r.write_lag, interval '0'))::float8
       END AS lag_seconds,
       CASE WHEN r.state IS NULL THEN 'only pg_read_all_stats is shown its lag' END AS problem
  FROM pg_catalog.pg_stat_replication r
 WHERE r.state IS DISTINCT FROM 'backup' AND coalesce(r.application_name, '') <> 'pg_basebackup'
 UNION ALL
SELECT s.slot_name::text, NULL, 'nobody reads its replication slot'
  FROM pg_catalog.pg_replication_slots s
 WHERE s.slot_type = 'physical' AND NOT s.active AND s.restart_lsn IS NOT NULL
 UNION ALL
SELECT 'this standby',
       CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
            ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8
       END,
       CASE WHEN pg_last_xact_replay_timestamp() IS NULL THEN 'it has replayed nothing yet' END
 WHERE pg_is_in_recovery();
