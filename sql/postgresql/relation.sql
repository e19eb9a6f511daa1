-- Title: The table or view of a name, with its estimated rows and its size
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: PostgreSQL 14 and later
SELECT n.nspname::text AS schema_name, c.relname::text AS table_name,
       CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'v' THEN 'view'
                      WHEN 'm' THEN 'materialized view' ELSE 'foreign table' END AS kind,
       CASE WHEN c.relkind = 'v' THEN NULL
            WHEN c.relkind = 'p' THEN (SELECT sum(greatest(l.reltuples, 0))::bigint FROM pg_catalog.pg_partition_tree(c.oid) t
                                         JOIN pg_catalog.pg_class l ON l.oid = t.relid::oid WHERE t.isleaf)
            WHEN c.reltuples >= 0::real THEN c.reltuples::bigint END AS row_estimate,
       CASE WHEN c.relkind IN ('r', 'm') THEN pg_catalog.pg_table_size(c.oid)
            WHEN c.relkind = 'p' THEN (SELECT sum(pg_table_size(t.relid))::bigint FROM pg_catalog.pg_partition_tree(c.oid) t
                                        WHERE t.isleaf) END AS byte_count,
       CASE WHEN c.relkind IN ('r', 'm') THEN pg_catalog.pg_relation_size(c.oid) / current_setting('block_size')::bigint
       END AS block_count,
       substring(pg_catalog.array_to_string(c.reloptions, ',') FROM 'parallel_workers=([0-9]+)')::integer AS parallel_workers,
       CASE WHEN pg_has_role(c.relowner, 'USAGE') THEN 'yes' ELSE 'no' END AS owned,
       CASE c.relkind WHEN 'p' THEN 'yes' ELSE 'no' END AS partitioned,
       (SELECT s.spcname::text FROM pg_catalog.pg_tablespace s WHERE s.oid = c.reltablespace) AS tablespace,
       CASE c.relpersistence WHEN 'u' THEN 'unlogged' WHEN 't' THEN 'temporary' ELSE 'permanent' END AS persistence
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relname = :name
   AND c.relkind IN ('r', 'p', 'v', 'm', 'f');
