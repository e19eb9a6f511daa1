-- Title: All settings of this process, but for what its sessions may read, which is what their work names
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT name AS name, value AS value
  FROM duckdb_settings()
 WHERE name NOT IN ('allowed_directories', 'allowed_paths')
 ORDER BY name;
