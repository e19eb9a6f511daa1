-- Title: Objects that already have a given name
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: DuckDB 2.0 and later
SELECT schema_name, table_name AS object_name, 'table' AS object_kind FROM duckdb_tables()
 WHERE database_name = current_database() AND schema_name = :schema AND lower(table_name) = lower(:name)
UNION ALL
SELECT schema_name, view_name, 'view' FROM duckdb_views()
 WHERE database_name = current_database() AND schema_name = :schema AND lower(view_name) = lower(:name)
UNION ALL
SELECT schema_name, index_name, 'index' FROM duckdb_indexes()
 WHERE database_name = current_database() AND schema_name = :schema AND lower(index_name) = lower(:name);
