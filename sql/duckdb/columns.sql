-- Title: Columns an INSERT may name, in order
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: DuckDB 2.0 and later
SELECT c.column_name, c.data_type, CASE WHEN c.is_nullable THEN 'yes' ELSE 'no' END AS nullable,
       c.column_index AS position
  FROM duckdb_columns() c
  LEFT JOIN duckdb_tables() t ON t.table_oid = c.table_oid AND t.database_name = c.database_name
 WHERE c.database_name = current_database() AND c.schema_name = :schema AND lower(c.table_name) = lower(:name)
   AND NOT coalesce(contains(t.sql, c.column_name || ' ' || c.data_type || ' GENERATED ALWAYS AS(')
                 OR contains(t.sql, '"' || replace(c.column_name, '"', '""') || '" ' || c.data_type
                                    || ' GENERATED ALWAYS AS('), false)
 ORDER BY c.column_index;
