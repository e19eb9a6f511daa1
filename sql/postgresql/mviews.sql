-- Title: What the refresh of a materialized view, or of those of a schema, depends on: rights, rows, unique index, size
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name (null: every materialized view of the schema)
-- Versions: PostgreSQL 14 and later
-- unique_index: one that CONCURRENTLY takes: valid, immediate, without a condition, on columns alone
-- (commands/matview.c, is_usable_unique_index).
SELECT n.nspname::text AS schema_name, c.relname::text AS table_name,
       CASE WHEN c.relispopulated THEN 'yes' ELSE 'no' END AS populated,
       CASE WHEN pg_has_role(c.relowner, 'USAGE')
              OR (current_setting('server_version_num')::integer >= 170000
                  AND (SELECT bool_or(x.privilege_type = 'MAINTAIN' AND (x.grantee = 0::oid OR pg_has_role(x.grantee, 'USAGE')))
                         FROM aclexplode(c.relacl) x))
              OR EXISTS (SELECT FROM pg_catalog.pg_roles m
                          WHERE m.rolname = 'pg_maintain' AND pg_has_role(m.oid, 'USAGE'))
            THEN 'yes' ELSE 'no' END AS may_refresh,
       (SELECT min(u.relname::text)
          FROM pg_catalog.pg_index i
          JOIN pg_catalog.pg_class u ON u.oid = i.indexrelid
         WHERE i.indrelid = c.oid AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL
           AND i.indexprs IS NULL AND i.indnatts > 0) AS unique_index,
       pg_get_viewdef(c.oid) AS definition,
       greatest(c.relpages, 0)::bigint * current_setting('block_size')::bigint AS table_bytes,
       (SELECT sum(greatest(u.relpages, 0))::bigint * current_setting('block_size')::bigint
          FROM pg_catalog.pg_index i
          JOIN pg_catalog.pg_class u ON u.oid = i.indexrelid
         WHERE i.indrelid = c.oid) AS index_bytes,
       (SELECT s.spcname::text FROM pg_catalog.pg_tablespace s WHERE s.oid = c.reltablespace) AS tablespace
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND (:name::text IS NULL OR c.relname = :name)
   AND c.relkind = 'm';
