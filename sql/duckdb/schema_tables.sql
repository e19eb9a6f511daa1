-- Title: Tables of a schema, largest first
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema
-- Versions: DuckDB 2.0 and later
SELECT schema_name, table_name, estimated_size AS row_estimate, estimated_size * 8 * column_count AS byte_count
  FROM duckdb_tables()
 WHERE database_name = current_database() AND schema_name = :schema AND NOT internal
 ORDER BY byte_count DESC, table_name;
