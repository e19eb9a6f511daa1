-- Title: Counters of this database and of the write-ahead log
-- Needs: CONNECT on the database (pg_read_all_stats is not needed)
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT v.metric_name, v.metric_value, v.metric_unit, v.metric_kind
  FROM (SELECT s.* FROM pg_catalog.pg_stat_database s WHERE s.datname = current_database()) s
 CROSS JOIN pg_catalog.pg_stat_wal w
 CROSS JOIN pg_catalog.pg_stat_bgwriter b
 CROSS JOIN LATERAL (
  VALUES ('commits', s.xact_commit::float8, 'transactions', 'counter'),
         ('rollbacks', s.xact_rollback::float8, 'transactions', 'counter'),
         ('blocks_read', s.blks_read::float8, 'blocks', 'counter'),
         ('blocks_hit', s.blks_hit::float8, 'blocks', 'counter'),
         ('rows_returned', s.tup_returned::float8, 'rows', 'counter'),
         ('rows_inserted', s.tup_inserted::float8, 'rows', 'counter'),
         ('temp_files', s.temp_files::float8, 'files', 'counter'),
         ('temp_bytes', s.temp_bytes::float8, 'bytes', 'counter'),
         ('deadlocks', s.deadlocks::float8, 'deadlocks', 'counter'),
         ('block_read_seconds', s.blk_read_time::float8 / 1000::float8, 's', 'counter'),
         ('block_write_seconds', s.blk_write_time::float8 / 1000::float8, 's', 'counter'),
         ('active_seconds', s.active_time::float8 / 1000::float8, 's', 'counter'),
         ('sessions_killed', s.sessions_killed::float8, 'sessions', 'counter'),
         ('wal_records', w.wal_records::float8, 'records', 'counter'),
         ('wal_full_page_images', w.wal_fpi::float8, 'pages', 'counter'),
         ('wal_bytes', w.wal_bytes::float8, 'bytes', 'counter'),
         ('wal_buffers_full', w.wal_buffers_full::float8, 'times', 'counter'),
         ('bgwriter_blocks_written', b.buffers_clean::float8, 'blocks', 'counter'),
         ('bgwriter_stopped', b.maxwritten_clean::float8, 'times', 'counter'),
         ('buffers_allocated', b.buffers_alloc::float8, 'blocks', 'counter')
 ) AS v(metric_name, metric_value, metric_unit, metric_kind);
