-- Title: What VACUUM and rewrites of a table, or of those of a schema, depend on: rights, dead rows, indexes, sizes
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name (null: every table of the schema)
-- Versions: PostgreSQL 14 and later
-- filled: VACUUM FULL passes over a materialized view that was never filled, without a word (cluster_rel of cluster.c).
-- may_vacuum: VACUUM skips the tables of others without an error. The owner of the database may, but for shared tables.
SELECT n.nspname::text AS schema_name, c.relname::text AS table_name,
       CASE c.relkind WHEN 'p' THEN 'partitioned table' WHEN 'm' THEN 'materialized view' ELSE 'table' END AS kind,
       CASE WHEN pg_has_role(c.relowner, 'USAGE')
              OR (SELECT pg_has_role(d.datdba, 'USAGE') FROM pg_catalog.pg_database d
                   WHERE d.datname = current_database())
              OR (current_setting('server_version_num')::integer >= 170000
                  AND (SELECT bool_or(x.privilege_type = 'MAINTAIN' AND (x.grantee = 0::oid OR pg_has_role(x.grantee, 'USAGE')))
                         FROM aclexplode(c.relacl) x))
              OR EXISTS (SELECT FROM pg_catalog.pg_roles m
                          WHERE m.rolname = 'pg_maintain' AND pg_has_role(m.oid, 'USAGE'))
            THEN 'yes' ELSE 'no' END AS may_vacuum,
       CASE WHEN c.relispopulated THEN 'yes' ELSE 'no' END AS filled,
       pg_stat_get_dead_tuples(c.oid) AS dead_rows,
       pg_stat_get_live_tuples(c.oid) AS live_rows,
       (SELECT count(*) FROM pg_catalog.pg_index i
         WHERE i.indrelid = c.oid AND pg_catalog.pg_relation_size(i.indexrelid) >=
               (SELECT s.setting::bigint FROM pg_catalog.pg_settings s WHERE s.name = 'min_parallel_index_scan_size')
               * current_setting('block_size')::bigint) AS parallel_index_count,
       CASE WHEN c.relfrozenxid <> '0' THEN age(c.relfrozenxid) END AS transaction_age,
       pg_catalog.pg_table_size(c.oid) AS table_bytes,
       pg_catalog.pg_indexes_size(c.oid) AS index_bytes,
       (SELECT s.spcname::text FROM pg_catalog.pg_tablespace s WHERE s.oid = c.reltablespace) AS tablespace
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND (:name::text IS NULL OR c.relname = :name)
   AND c.relkind IN ('r', 'm', 'p');
