-- Title: Settings for parallelism, memory and logging
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT s.name, s.setting AS value, s.unit, s.source
  FROM pg_catalog.pg_settings s
 WHERE s.name IN ('max_worker_processes', 'max_parallel_workers', 'max_parallel_workers_per_gather',
                  'max_parallel_maintenance_workers', 'parallel_setup_cost', 'parallel_tuple_cost',
                  'min_parallel_table_scan_size', 'min_parallel_index_scan_size', 'parallel_leader_participation',
                  'maintenance_work_mem', 'work_mem', 'shared_buffers', 'wal_level', 'archive_mode',
                  'max_wal_size', 'synchronous_commit', 'full_page_writes', 'fsync', 'track_io_timing', 'jit', 'max_connections',
                  'superuser_reserved_connections', 'temp_file_limit', 'default_toast_compression',
                  'default_transaction_isolation', 'force_parallel_mode', 'debug_parallel_query',
                  'default_transaction_read_only', 'client_connection_check_interval')
 ORDER BY s.name;
