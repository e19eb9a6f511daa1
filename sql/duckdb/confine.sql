-- Title: Keep SQL from files, the network and extensions, beside what the target's URL allows; nothing reverts it
-- Needs: none
-- License: none
-- Effect: changes settings of this process
-- Params: none
-- Versions: DuckDB 2.0 and later
SET autoinstall_known_extensions = false;
SET autoload_known_extensions = false;
SET allow_community_extensions = false;
SET allow_persistent_secrets = false;
SET enable_external_access = false;
SET allowed_configs = ['threads', 'external_threads', 'worker_threads', 'async_threads', 'pin_threads',
    'force_compression', 'memory_limit', 'max_memory', 'operator_memory_limit', 'max_temp_directory_size',
    'preserve_insertion_order', 'checkpoint_threshold', 'wal_autocheckpoint', 'allocator_background_threads',
    'allocator_flush_threshold', 'perfect_ht_threshold', 'ordered_aggregate_threshold', 'merge_join_threshold',
    'nested_loop_join_threshold', 'prefer_range_joins', 'index_scan_max_count', 'index_scan_percentage',
    'late_materialization_max_rows', 'dynamic_or_filter_threshold', 'disabled_optimizers', 'enable_optimizer',
    'disabled_compression_methods', 'zstd_min_string_length', 'enable_fsst_vectors', 'enable_optimistic_write',
    'scheduler_process_partial', 'write_buffer_row_group_count', 'write_buffer_row_group_memory_limit'];
SET lock_configuration = true;
