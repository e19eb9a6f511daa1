-- Title: Memory and temporary storage during a trial
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :run
-- Versions: DuckDB 2.0 and later
SELECT 'db_memory_bytes' AS metric_name, sum(memory_usage_bytes)::DOUBLE AS metric_value
  FROM duckdb_memory() WHERE :run IS NOT NULL
UNION ALL
SELECT 'db_temp_bytes', sum(temporary_storage_bytes)::DOUBLE FROM duckdb_memory();
