-- Title: Constraints of a table, or of those of a schema, that are enforced for new rows only (NOT VALID)
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name (null: every table of the schema)
-- Versions: PostgreSQL 14 and later
-- Those that a table inherits are validated with its parent. From 18 on a constraint may be NOT ENFORCED: nothing validates it.
SELECT n.nspname::text AS schema_name, c.relname::text AS table_name, k.conname::text AS constraint_name,
       CASE k.contype WHEN 'f' THEN 'foreign key' WHEN 'c' THEN 'check' WHEN 'n' THEN 'not null' ELSE k.contype::text END AS kind,
       CASE WHEN k.confrelid <> 0::oid THEN k.confrelid::regclass::text END AS refers_to,
       CASE WHEN pg_has_role(c.relowner, 'USAGE') THEN 'yes' ELSE 'no' END AS owned,
       CASE pg_catalog.jsonb_extract_path_text(pg_catalog.to_jsonb(k), 'conenforced')
            WHEN 'false' THEN 'no' ELSE 'yes' END AS enforced,
       CASE WHEN k.coninhcount > 0 THEN 'yes' ELSE 'no' END AS inherited,
       pg_catalog.pg_table_size(c.oid) AS table_bytes
  FROM pg_catalog.pg_constraint k
  JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND (:name::text IS NULL OR c.relname = :name)
   AND NOT k.convalidated
 ORDER BY c.relname, k.conname;
