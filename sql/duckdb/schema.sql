-- Title: Whether a schema exists
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema
-- Versions: DuckDB 2.0 and later
SELECT schema_name FROM duckdb_schemas() WHERE database_name = current_database() AND schema_name = :schema;
