-- Title: Which of the partitions that were to go are partitions of their table still
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the partitioned table, :parts (JSON: an array of names, with the schema where it is another)
-- Versions: PostgreSQL 14 and later
SELECT o.number, o.part AS part_name
  FROM json_array_elements_text(:parts::json) WITH ORDINALITY AS o (part, number)
  JOIN pg_catalog.pg_class p ON p.relname = :name
  JOIN pg_catalog.pg_namespace pn ON pn.oid = p.relnamespace AND pn.nspname = coalesce(:schema, current_schema())
  JOIN pg_catalog.pg_inherits i ON i.inhparent = p.oid
  JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE CASE WHEN n.oid = pn.oid THEN c.relname::text ELSE n.nspname::text || '.' || c.relname::text END = o.part
 ORDER BY o.number;
