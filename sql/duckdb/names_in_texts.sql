-- Title: What the names in a plan lead to: relations, sequences, macros and own types, and the text of views and macros
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :words, the names, each between bars (|orders|main.total|); one without a dot is of the current schema
-- Versions: DuckDB 2.0 and later
-- Names are the same in any case. A macro goes before a function of DuckDB that has its name.
SELECT CASE WHEN asked.dotted THEN schema_name || '.' ELSE '' END || name AS name,
       kind || ' ' || schema_name || '.' || name || coalesce(', text ' || left(md5(behind), 12), '') AS leads_to
  FROM (SELECT table_name AS name, 'table' AS kind, schema_name, database_name, NULL AS behind FROM duckdb_tables()
         UNION ALL
        SELECT view_name, 'view', schema_name, database_name, sql FROM duckdb_views() WHERE NOT internal
         UNION ALL
        SELECT sequence_name, 'sequence', schema_name, database_name, NULL FROM duckdb_sequences()
         UNION ALL
        SELECT function_name, CASE function_type WHEN 'table_macro' THEN 'table macro' ELSE 'macro' END,
               schema_name, database_name, concat_ws(' ', parameters::VARCHAR, macro_definition)
          FROM duckdb_functions()
         WHERE function_type IN ('macro', 'table_macro') AND NOT internal
         UNION ALL
        SELECT type_name, 'type', schema_name, database_name, NULL FROM duckdb_types() WHERE NOT internal) AS found
 CROSS JOIN (VALUES (false), (true)) AS asked (dotted)
 WHERE (asked.dotted OR schema_name = current_schema())
   AND database_name = current_database()
   AND contains(lower(:words), '|' || CASE WHEN asked.dotted THEN lower(schema_name) || '.' ELSE '' END || lower(name) || '|');
