-- Title: How many tables a dump of a schema or table holds, and their bytes without indexes
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: PostgreSQL 14 and later
SELECT count(*) + (SELECT count(*) FROM pg_catalog.pg_namespace s WHERE s.nspname = :schema AND coalesce(:name::text, '') = '')
         AS object_count,
       coalesce(sum(CASE WHEN c.relkind IN ('r', 'm') THEN pg_catalog.pg_table_size(c.oid)
                         WHEN c.relkind = 'p' AND c.relname = :name THEN
                              (SELECT sum(pg_catalog.pg_table_size(t.relid))
                                 FROM pg_catalog.pg_partition_tree(c.oid) t WHERE t.isleaf) END), 0)::bigint
         AS byte_count
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p', 'm', 'v', 'f', 'S') AND n.nspname = coalesce(:schema, current_schema())
   AND c.relname = coalesce(:name, c.relname);
