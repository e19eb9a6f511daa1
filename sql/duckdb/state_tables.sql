-- Title: Tables: rows as estimated, indexes, columns
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT schema_name AS schema_name, table_name AS table_name, estimated_size::DOUBLE AS row_count,
       index_count::DOUBLE AS index_count, column_count::DOUBLE AS column_count
  FROM duckdb_tables() WHERE database_name = current_database() AND NOT temporary
 ORDER BY estimated_size DESC LIMIT 2000;
