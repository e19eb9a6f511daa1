-- Title: Size of the database file and of its write-ahead log
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT 'file_bytes' AS metric_name, (total_blocks * block_size)::DOUBLE AS metric_value, 'bytes' AS metric_unit,
       'gauge' AS metric_kind FROM pragma_database_size() WHERE database_name = current_database()
UNION ALL
SELECT 'file_free_bytes', (free_blocks * block_size)::DOUBLE, 'bytes', 'gauge'
  FROM pragma_database_size() WHERE database_name = current_database();
