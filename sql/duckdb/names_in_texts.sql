-- Title: What the names in a plan lead to: relations, sequences, macros and own types, and what stands behind them
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :words, the names, each between bars (|orders|main.total|.total|); one without a dot is of the schema main, one after a dot only where it is a macro
-- Versions: DuckDB 2.0 and later
-- Names are the same in any case. A macro goes before a function of DuckDB that has its name, and before the one that an
-- operator is (`||`, `LIKE`, `+`, `[1, 2]`): all such macros count, whatever is named. This query itself calls no name and
-- no such operator without `system.main`, so that no macro answers instead: `=`, `<>`, IN, CASE and IS are no functions.
-- Behind a view or a macro is its text; behind a table are its triggers, the defaults of its columns (what they are
-- generated from, too) and its checks; behind a type its kind, size and labels. Plain columns and rows are not: they change
-- with the work of every day.
-- What has something behind it and whose name occurs in the text of what is named counts, too, however deep: DuckDB
-- keeps no list of what a text reads.
WITH RECURSIVE found AS (
SELECT t.table_name AS name, 'table' AS kind, t.schema_name,
       system.main.concat_ws(system.main.chr(10),
         (SELECT system.main.string_agg(r.sql, system.main.chr(10) ORDER BY r.trigger_name)
            FROM system.main.duckdb_triggers() r
           WHERE r.database_name = t.database_name AND r.schema_name = t.schema_name AND r.table_name = t.table_name),
         (SELECT system.main.string_agg(system.main.concat_ws(' ', c.column_name, c.column_default), system.main.chr(10)
                                        ORDER BY c.column_name)
            FROM system.main.duckdb_columns() c
           WHERE c.database_name = t.database_name AND c.schema_name = t.schema_name AND c.table_name = t.table_name
             AND c.column_default IS NOT NULL),
         (SELECT system.main.string_agg(k.constraint_text, system.main.chr(10) ORDER BY k.constraint_text)
            FROM system.main.duckdb_constraints() k
           WHERE k.database_name = t.database_name AND k.schema_name = t.schema_name AND k.table_name = t.table_name
             AND k.constraint_type = 'CHECK')) AS behind,
       t.database_name
  FROM system.main.duckdb_tables() t
 UNION ALL
SELECT view_name, 'view', schema_name, sql, database_name FROM system.main.duckdb_views() WHERE NOT internal
 UNION ALL
SELECT sequence_name, 'sequence', schema_name, '', database_name FROM system.main.duckdb_sequences()
 UNION ALL
SELECT function_name, CASE function_type WHEN 'table_macro' THEN 'table macro' ELSE 'macro' END,
       schema_name, system.main.concat_ws(' ', parameters, macro_definition), database_name
  FROM system.main.duckdb_functions()
 WHERE NOT internal
 UNION ALL
SELECT type_name, 'type', schema_name, system.main.concat_ws(' ', logical_type, type_size, labels), database_name
  FROM system.main.duckdb_types()
 WHERE NOT internal
), here AS (
SELECT found.name, found.kind, found.schema_name, CASE WHEN found.behind <> '' THEN found.behind END AS behind
  FROM found
 WHERE found.database_name = system.main.current_database()
), reached AS (
SELECT CASE WHEN asked.dotted THEN system.main.concat(schema_name, '.', name) ELSE name END AS shown, here.*
  FROM here
 CROSS JOIN (VALUES (false), (true)) AS asked (dotted)
 WHERE (asked.dotted OR schema_name = 'main')
   AND (system.main.contains(system.main.lower(:words), system.main.lower(
          system.main.concat('|', CASE WHEN asked.dotted THEN system.main.concat(schema_name, '.') ELSE '' END, name, '|')))
        OR NOT asked.dotted AND kind IN ('macro', 'table macro')
           AND system.main.contains(system.main.lower(:words), system.main.lower(system.main.concat('|.', name, '|'))))
 UNION
SELECT system.main.concat(other.schema_name, '.', other.name), other.*
  FROM reached
  JOIN here AS other ON other.behind IS NOT NULL
   AND (other.name <> reached.name OR other.schema_name <> reached.schema_name)
   AND system.main.regexp_matches(system.main.lower(reached.behind), system.main.concat('(^|\W)',
         system.main.regexp_escape(system.main.replace(system.main.lower(other.name), '"', '""')), '(\W|$)'))
)
SELECT shown AS name,
       system.main.concat(kind, ' ', schema_name, '.', name,
                          CASE WHEN behind IS NOT NULL
                               THEN system.main.concat(', text ', system.main.substr(system.main.md5(behind), 1, 12)) END)
         AS leads_to
  FROM reached
 UNION ALL
SELECT 'names of DuckDB''s own',
       system.main.concat(system.main.count_star(), ' own macros have them, ', system.main.substr(system.main.md5(
         system.main.string_agg(system.main.concat_ws(' ', kind, name, behind), system.main.chr(10) ORDER BY name, behind)),
         1, 12))
  FROM here
 WHERE kind IN ('macro', 'table macro') AND schema_name = 'main'
   AND system.main.lower(name) IN (SELECT system.main.lower(f.function_name)
                                     FROM system.main.duckdb_functions() f
                                    WHERE f.internal)
HAVING system.main.count_star() <> 0;
