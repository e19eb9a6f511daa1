-- Title: What the names in a query mean that have no schema: relations, own functions and types, as this session finds them
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :words, the names, each between bars (|orders|total|)
-- Versions: PostgreSQL 14 and later
SELECT c.relname::text AS name,
       CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table'
                      WHEN 'S' THEN 'sequence' ELSE 'table' END || ' ' || n.nspname || '.' || c.relname AS leads_to
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
   AND strpos(CAST(:words AS text), '|' || c.relname || '|') > 0
   AND pg_table_is_visible(c.oid)
 UNION ALL
SELECT p.proname::text, 'function ' || n.nspname || '.' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')'
  FROM pg_proc p
  JOIN pg_namespace n ON n.oid = p.pronamespace
 WHERE n.nspname <> 'pg_catalog'
   AND strpos(CAST(:words AS text), '|' || p.proname || '|') > 0
   AND pg_function_is_visible(p.oid)
 UNION ALL
SELECT t.typname::text, 'type ' || n.nspname || '.' || t.typname
  FROM pg_type t
  JOIN pg_namespace n ON n.oid = t.typnamespace
 WHERE n.nspname <> 'pg_catalog'
   AND t.typrelid = 0
   AND strpos(CAST(:words AS text), '|' || t.typname || '|') > 0
   AND pg_type_is_visible(t.oid);
