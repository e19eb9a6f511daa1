-- Title: Existing indexes
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT schema_name AS schema_name, index_name AS index_name, table_name AS table_name, sql AS definition
  FROM duckdb_indexes() WHERE database_name = current_database() ORDER BY ALL LIMIT 2000;
