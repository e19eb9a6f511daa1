-- Title: The table or view of a name
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: DuckDB 2.0 and later
SELECT schema_name, table_name, 'table' AS kind, estimated_size AS row_estimate, NULL::BIGINT AS byte_count
  FROM duckdb_tables()
 WHERE database_name = current_database() AND schema_name = :schema AND lower(table_name) = lower(:name)
UNION ALL
SELECT schema_name, view_name, 'view', NULL, NULL
  FROM duckdb_views()
 WHERE database_name = current_database() AND schema_name = :schema AND lower(view_name) = lower(:name);
