-- Title: Columns of the key that identifies the rows of a table
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: DuckDB 2.0 and later
SELECT k.column_name, c.data_type, k.key_name
  FROM (SELECT table_oid, schema_name, table_name, constraint_name AS key_name,
               unnest(constraint_column_names) AS column_name,
               generate_subscripts(constraint_column_names, 1) AS position
          FROM duckdb_constraints()
         WHERE database_name = current_database() AND schema_name = :schema AND lower(table_name) = lower(:name)
           AND constraint_type = 'PRIMARY KEY') k
  JOIN duckdb_columns() c ON c.table_oid = k.table_oid AND c.database_name = current_database()
                         AND c.column_name = k.column_name
 ORDER BY k.position;
