-- Title: Indexes of a table; the size is an estimate from its rows
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: DuckDB 2.0 and later
SELECT i.schema_name, i.index_name, t.schema_name AS table_schema, i.table_name,
       CASE WHEN i.is_unique THEN 'yes' ELSE 'no' END AS is_unique, 'yes' AS is_valid,
       t.estimated_size * 8 AS byte_count,
       '(' || array_to_string(i.expressions::VARCHAR[], ', ') || ')' AS definition,
       array_to_string(i.expressions::VARCHAR[], ', ') AS column_list
  FROM duckdb_indexes() i
  JOIN duckdb_tables() t ON t.table_oid = i.table_oid AND t.database_name = i.database_name
 WHERE i.database_name = current_database() AND i.schema_name = :schema AND lower(i.table_name) = lower(:name)
 ORDER BY t.estimated_size DESC, i.index_name;
