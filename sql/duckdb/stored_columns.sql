-- Title: Columns of tables that hold values of their own, in order
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name (null: every table of the schema)
-- Versions: DuckDB 2.0 and later
SELECT table_schema AS schema_name, table_name, column_name
  FROM information_schema.columns
 WHERE table_catalog = current_database() AND table_schema = :schema AND is_generated = 'NEVER'
   AND (:name IS NULL OR lower(table_name) = lower(:name))
 ORDER BY table_name, ordinal_position;
