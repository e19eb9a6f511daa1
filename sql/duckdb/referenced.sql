-- Title: Tables that foreign keys of others refer to
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name (null: every table of the schema)
-- Versions: DuckDB 2.0 and later
SELECT schema_name, referenced_table AS table_name, min(table_name) AS referring_table
  FROM duckdb_constraints()
 WHERE database_name = current_database() AND schema_name = :schema AND constraint_type = 'FOREIGN KEY'
   AND (:name IS NULL OR lower(referenced_table) = lower(:name))
 GROUP BY ALL;
