-- Title: The present value of a setting
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :name
-- Versions: DuckDB 2.0 and later
SELECT s.value AS value
  FROM duckdb_settings() s
 WHERE s.name = :name;
