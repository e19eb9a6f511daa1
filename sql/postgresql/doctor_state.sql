-- Title: State of the server: replica, sessions, oldest transaction, replication slots, archiver
-- Needs: none; pg_read_all_stats for the transactions of other users
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT CASE WHEN pg_is_in_recovery() THEN 'yes' ELSE 'no' END AS in_recovery,
       extract(epoch FROM now() - pg_last_xact_replay_timestamp())::float8 AS replay_delay_seconds,
       (SELECT count(*) FROM pg_catalog.pg_stat_activity a
         WHERE a.backend_type = 'client backend') AS session_count,
       (SELECT count(*) FROM pg_catalog.pg_stat_activity a
         WHERE a.backend_type = 'parallel worker') AS worker_count,
       (SELECT count(*) FROM pg_catalog.pg_stat_activity a
         WHERE a.backend_type = 'client backend' AND a.state = 'active'
           AND a.pid <> pg_backend_pid()) AS active_count,
       (SELECT extract(epoch FROM max(now() - a.xact_start))::float8 FROM pg_catalog.pg_stat_activity a
         WHERE a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()) AS oldest_transaction_seconds,
       (SELECT count(*) FROM pg_catalog.pg_replication_slots s WHERE NOT s.active) AS idle_slot_count,
       (SELECT max(CASE WHEN pg_is_in_recovery() THEN NULL
                        ELSE pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn) END)::bigint
          FROM pg_catalog.pg_replication_slots s) AS slot_wal_byte_count,
       (SELECT count(*) FROM pg_catalog.pg_stat_replication) AS replica_count,
       (SELECT max(extract(epoch FROM r.replay_lag))::float8 FROM pg_catalog.pg_stat_replication r)
         AS replica_delay_seconds,
       (SELECT CASE WHEN r.last_failed_time > coalesce(r.last_archived_time, '-infinity') THEN 'yes' ELSE 'no' END
          FROM pg_catalog.pg_stat_archiver r) AS archiver_fails,
       pg_database_size(current_database()) AS database_byte_count;
