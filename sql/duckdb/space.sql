-- Title: Where new objects go; SQL does not show free disk space
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT coalesce(path, ':memory:') AS place
  FROM duckdb_databases() WHERE database_name = current_database();
