-- Title: How many transactions ago the oldest row of tables that is not frozen may have been written
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name (null: every table of the schema)
-- Versions: PostgreSQL 14 and later
-- With the partitions of a table, and the TOAST table of each.
SELECT c.oid::regclass::text AS table_name, age(c.relfrozenxid) AS transaction_age
  FROM pg_catalog.pg_class r
  JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace
 CROSS JOIN LATERAL (SELECT r.oid AS relid UNION SELECT p.relid FROM pg_catalog.pg_partition_tree(r.oid) p) t
  JOIN pg_catalog.pg_class m ON m.oid = t.relid
  JOIN pg_catalog.pg_class c ON c.oid IN (m.oid, m.reltoastrelid) AND c.relfrozenxid <> '0'
 WHERE n.nspname = coalesce(:schema, current_schema()) AND (:name::text IS NULL OR r.relname = :name)
   AND r.relkind IN ('r', 'm', 'p');
