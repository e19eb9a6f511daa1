-- Title: What the names in a query mean that have no schema: relations, sequences, macros and own types of the current one
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :words, the names, each between bars (|orders|total|)
-- Versions: DuckDB 2.0 and later
-- Names are the same in any case. A macro goes before a function of DuckDB that has its name.
SELECT name, kind || ' ' || schema_name || '.' || name AS leads_to
  FROM (SELECT table_name AS name, 'table' AS kind, schema_name, database_name FROM duckdb_tables()
         UNION ALL
        SELECT view_name, 'view', schema_name, database_name FROM duckdb_views() WHERE NOT internal
         UNION ALL
        SELECT sequence_name, 'sequence', schema_name, database_name FROM duckdb_sequences()
         UNION ALL
        SELECT function_name, CASE function_type WHEN 'table_macro' THEN 'table macro' ELSE 'macro' END,
               schema_name, database_name
          FROM duckdb_functions()
         WHERE function_type IN ('macro', 'table_macro') AND NOT internal
         UNION ALL
        SELECT type_name, 'type', schema_name, database_name FROM duckdb_types() WHERE NOT internal) AS found
 WHERE schema_name = current_schema()
   AND database_name = current_database()
   AND contains(lower(:words), '|' || lower(name) || '|');
