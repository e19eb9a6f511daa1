-- Title: Extended statistics of columns and expressions of a table, or of those of a schema
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name (null: every table of the schema)
-- Versions: PostgreSQL 14 and later
SELECT n.nspname::text AS schema_name, c.relname::text AS table_name, s.stxname::text AS group_name,
       g.nspname::text AS group_schema,
       CASE WHEN pg_has_role(s.stxowner, 'USAGE') THEN 'yes' ELSE 'no' END AS owned,
       '(' || (SELECT string_agg('"' || a.attname::text || '"', ',' ORDER BY a.attnum)
                 FROM pg_catalog.pg_attribute a
                WHERE a.attrelid = s.stxrelid AND a.attnum = ANY (s.stxkeys::smallint[])) || ')' AS column_list,
       pg_catalog.array_to_string(pg_catalog.pg_get_statisticsobjdef_expressions(s.oid), ', ') AS expressions
  FROM pg_catalog.pg_statistic_ext s
  JOIN pg_catalog.pg_class c ON c.oid = s.stxrelid
  JOIN pg_catalog.pg_namespace g ON g.oid = s.stxnamespace
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND (:name::text IS NULL OR c.relname = :name)
 ORDER BY c.relname, s.stxname;
