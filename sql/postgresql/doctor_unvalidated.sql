-- Title: Constraints that are enforced for new rows only (NOT VALID)
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS table_name, count(*) AS constraint_count,
       string_agg(k.conname::text, ', ' ORDER BY k.conname) AS constraint_names
  FROM pg_catalog.pg_constraint k
  JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE NOT k.convalidated AND k.coninhcount = 0
   AND coalesce(pg_catalog.jsonb_extract_path_text(pg_catalog.to_jsonb(k), 'conenforced'), 'true') = 'true'
 GROUP BY n.nspname, c.relname
 ORDER BY n.nspname, c.relname;
