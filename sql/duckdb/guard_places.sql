-- Title: the file of the database, and the folder for spilling
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schemas, :tablespaces (any text)
-- Versions: DuckDB 2.0 and later
SELECT 'tablespace' AS place_kind, database_name AS place, path
  FROM duckdb_databases()
 WHERE database_name = current_database() AND path IS NOT NULL AND :schemas IS NOT NULL
 UNION ALL
SELECT 'temp', 'temp_directory', nullif(current_setting('temp_directory'), '') WHERE :tablespaces IS NOT NULL;
