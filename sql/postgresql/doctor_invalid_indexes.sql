-- Title: Indexes that a failed CREATE INDEX or REINDEX CONCURRENTLY left behind
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT n.nspname::text AS schema_name, i.relname::text AS index_name, c.relname::text AS table_name,
       pg_catalog.format('DROP INDEX %I.%I', n.nspname, i.relname) AS drop_text,
       -- a twin that REINDEX CONCURRENTLY left is only to be dropped: the index itself is still there
       CASE WHEN i.relname::text !~ '_cc(new|old)[0-9]*$' THEN pg_catalog.format('REINDEX INDEX %I.%I', n.nspname, i.relname)
       END AS rebuild_text,
       pg_catalog.pg_relation_size(i.oid) AS byte_count
  FROM pg_catalog.pg_index x
  JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = i.relnamespace
  JOIN pg_catalog.pg_class c ON c.oid = x.indrelid
 WHERE NOT x.indisvalid AND i.relkind = 'i'
 ORDER BY n.nspname, i.relname;
