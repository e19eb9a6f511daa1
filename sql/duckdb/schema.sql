-- Title: Whether a schema exists
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema
-- Versions: DuckDB 1.4 and later
SELECT schema_name FROM duckdb_schemas() WHERE database_name = current_database() AND schema_name = :schema;
