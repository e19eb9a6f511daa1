-- Title: All settings of this process
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT name AS name, value AS value FROM duckdb_settings() ORDER BY name;
