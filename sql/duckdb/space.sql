-- Title: Where new objects go; SQL does not show free disk space
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema
-- Versions: DuckDB 2.0 and later
SELECT coalesce(path, ':memory:') AS place, NULL::BIGINT AS free_byte_count
  FROM duckdb_databases() WHERE database_name = current_database() AND :schema IS NOT NULL;
