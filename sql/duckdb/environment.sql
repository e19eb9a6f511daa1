-- Title: Settings and size of this database; DuckDB does not say who set what, nor what its defaults are
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT 'setting.' || name AS name, value AS value, NULL::VARCHAR AS unit, NULL::VARCHAR AS default_value,
       NULL::VARCHAR AS origin
  FROM duckdb_settings()
 WHERE NOT regexp_matches(name, 'secret|password|token|key')
   -- these are what a session of dbatk may read, which is what its work names
   AND name NOT IN ('allowed_directories', 'allowed_paths')
UNION ALL
SELECT 'server.version', version(), NULL, NULL, NULL
UNION ALL
SELECT 'size.database_bytes', CAST(sum(block_size * total_blocks) AS VARCHAR), 'B', NULL, NULL
  FROM pragma_database_size()
 WHERE database_name = current_database()
 ORDER BY 1;
