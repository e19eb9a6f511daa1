-- Title: Settings of the database and the session
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT DISTINCT name
  FROM duckdb_settings()
 ORDER BY name;
