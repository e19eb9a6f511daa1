-- Title: Rules and triggers that may keep a row from being inserted into a table, or into its partitions
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: PostgreSQL 14 and later
WITH relations AS (
SELECT coalesce(p.relid::oid, c.oid) AS relation
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN LATERAL pg_catalog.pg_partition_tree(c.oid) p ON c.relkind = 'p'
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relname = :name)
SELECT 'trigger' AS kind, t.tgname::text AS filter_name
  FROM pg_catalog.pg_trigger t
  JOIN relations r ON r.relation = t.tgrelid
 -- bits of tgtype: 1 for each row, 2 before, 4 insert, 64 instead of
 WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype::integer & 4 = 4
   AND (t.tgtype::integer & 64 = 64 OR t.tgtype::integer & 3 = 3)
UNION ALL
SELECT 'rule', w.rulename::text
  FROM pg_catalog.pg_rewrite w
  JOIN relations r ON r.relation = w.ev_class
 WHERE w.ev_type = '3';
