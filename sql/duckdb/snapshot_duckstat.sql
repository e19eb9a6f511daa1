-- Title: Current memory and temporary storage of this process
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT 'db_memory_bytes' AS metric_name, sum(memory_usage_bytes)::DOUBLE AS metric_value,
       'bytes' AS metric_unit, 'gauge' AS metric_kind FROM duckdb_memory()
UNION ALL
SELECT 'db_temp_bytes', sum(temporary_storage_bytes)::DOUBLE, 'bytes', 'gauge' FROM duckdb_memory()
UNION ALL
SELECT 'db_used_bytes', (used_blocks * block_size)::DOUBLE, 'bytes', 'gauge'
  FROM pragma_database_size() WHERE database_name = current_database();
