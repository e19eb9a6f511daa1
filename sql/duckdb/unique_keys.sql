-- Title: Columns of the keys and unique indexes of a table, one line each
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: DuckDB 2.0 and later
SELECT array_to_string(constraint_column_names, chr(10)) AS column_names
  FROM duckdb_constraints()
 WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE')
   AND database_name = current_database()
   AND schema_name = coalesce(:schema, current_schema())
   AND table_name = :name
UNION
SELECT replace(replace(trim(expressions, '[]'), '"', ''), ', ', chr(10))
  FROM duckdb_indexes()
 WHERE is_unique
   AND database_name = current_database()
   AND schema_name = coalesce(:schema, current_schema())
   AND table_name = :name;
