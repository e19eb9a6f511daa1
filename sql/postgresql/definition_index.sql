-- Title: What an index is: its table, its kind, its key and included columns
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the index
-- Versions: PostgreSQL 14 and later
-- The text of an expression is spelled anew by the server: only its place is told.
WITH made AS (
  SELECT i.*, t.relname AS table_name, n.nspname AS schema_name
    FROM pg_catalog.pg_index i
    JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
    JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace
    JOIN pg_catalog.pg_class t ON t.oid = i.indrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
   WHERE s.nspname = coalesce(:schema, current_schema()) AND c.relname = :name)
SELECT 'table' AS name, m.schema_name::text || '.' || m.table_name::text AS value FROM made m
 UNION ALL
SELECT 'kind' AS name, CASE WHEN m.indisunique THEN 'UNIQUE' ELSE 'NORMAL' END AS value FROM made m
 UNION ALL
SELECT CASE WHEN k.place <= m.indnkeyatts THEN 'key' ELSE 'include' END AS name,
       k.place::text || ' ' || CASE WHEN k.number = 0 THEN '(expression)' ELSE a.attname::text END AS value
  FROM made m
 CROSS JOIN LATERAL pg_catalog.unnest(m.indkey::smallint[]) WITH ORDINALITY AS k(number, place)
  LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = m.indrelid AND a.attnum = k.number;
