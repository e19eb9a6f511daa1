-- Title: The statement that created a table
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: DuckDB 2.0 and later
SELECT sql AS definition FROM duckdb_tables()
 WHERE database_name = current_database() AND schema_name = :schema AND lower(table_name) = lower(:name);
