-- Title: Settings that affect parallel work
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT name, value, NULL::VARCHAR AS unit
  FROM duckdb_settings()
 WHERE name IN ('threads', 'memory_limit', 'temp_directory', 'max_temp_directory_size', 'force_compression',
                'preserve_insertion_order', 'checkpoint_threshold', 'allocator_background_threads')
 ORDER BY name;
