-- Title: Memory and temporary storage by what uses it
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT tag AS use, memory_usage_bytes::DOUBLE AS memory_bytes, temporary_storage_bytes::DOUBLE AS temp_bytes
  FROM duckdb_memory();
