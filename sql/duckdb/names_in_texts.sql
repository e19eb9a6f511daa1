-- Title: What the names in a plan lead to: relations, sequences, macros and own types, and what stands behind them
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :words, the names, each between bars (|orders|main.total|); one without a dot is of the current schema
-- Versions: DuckDB 2.0 and later
-- Names are the same in any case. A macro goes before a function of DuckDB that has its name.
-- Behind a view or a macro is its text; behind a table are its triggers, the defaults of its columns (what they are
-- generated from, too) and its checks. Plain columns and rows are not: they change with the work of every day.
-- What has something behind it and whose name occurs in the text of what is named counts, too, however deep: DuckDB
-- keeps no list of what a text reads.
WITH RECURSIVE found AS (
SELECT t.table_name AS name, 'table' AS kind, t.schema_name,
       nullif(concat_ws(chr(10),
         (SELECT string_agg(r.sql, chr(10) ORDER BY r.trigger_name)
            FROM duckdb_triggers() r
           WHERE (r.database_name, r.schema_name, r.table_name) = (t.database_name, t.schema_name, t.table_name)),
         (SELECT string_agg(c.column_name || ' ' || c.column_default, chr(10) ORDER BY c.column_name)
            FROM duckdb_columns() c
           WHERE (c.database_name, c.schema_name, c.table_name) = (t.database_name, t.schema_name, t.table_name)
             AND c.column_default IS NOT NULL),
         (SELECT string_agg(k.constraint_text, chr(10) ORDER BY k.constraint_text)
            FROM duckdb_constraints() k
           WHERE (k.database_name, k.schema_name, k.table_name) = (t.database_name, t.schema_name, t.table_name)
             AND k.constraint_type = 'CHECK')), '') AS behind,
       t.database_name
  FROM duckdb_tables() t
 UNION ALL
SELECT view_name, 'view', schema_name, sql, database_name FROM duckdb_views() WHERE NOT internal
 UNION ALL
SELECT sequence_name, 'sequence', schema_name, NULL, database_name FROM duckdb_sequences()
 UNION ALL
SELECT function_name, CASE function_type WHEN 'table_macro' THEN 'table macro' ELSE 'macro' END,
       schema_name, concat_ws(' ', parameters::VARCHAR, macro_definition), database_name
  FROM duckdb_functions()
 WHERE function_type IN ('macro', 'table_macro') AND NOT internal
 UNION ALL
SELECT type_name, 'type', schema_name, NULL, database_name FROM duckdb_types() WHERE NOT internal
), reached AS (
SELECT CASE WHEN asked.dotted THEN schema_name || '.' ELSE '' END || name AS shown, found.*
  FROM found
 CROSS JOIN (VALUES (false), (true)) AS asked (dotted)
 WHERE (asked.dotted OR schema_name = current_schema())
   AND database_name = current_database()
   AND contains(lower(:words), '|' || CASE WHEN asked.dotted THEN lower(schema_name) || '.' ELSE '' END || lower(name) || '|')
 UNION
SELECT other.schema_name || '.' || other.name, other.*
  FROM reached
  JOIN found AS other ON other.database_name = current_database() AND other.behind IS NOT NULL
   AND (other.name, other.schema_name) <> (reached.name, reached.schema_name)
   AND regexp_matches(lower(reached.behind),
                      '(^|\W)' || regexp_escape(replace(lower(other.name), '"', '""')) || '(\W|$)')
)
SELECT shown AS name, kind || ' ' || schema_name || '.' || name || coalesce(', text ' || left(md5(behind), 12), '') AS leads_to
  FROM reached;
