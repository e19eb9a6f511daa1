-- Title: Schemas of the database
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT schema_name
  FROM duckdb_schemas()
 WHERE database_name = current_database() AND NOT internal
 ORDER BY schema_name;
