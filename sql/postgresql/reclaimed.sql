-- Title: Bytes, dead rows and age of tables and their partitions, all together
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :objects (JSON: an array of [schema or null, name])
-- Versions: PostgreSQL 14 and later
-- Dead rows are those that the server's statistics know of; right after a VACUUM those that it had to leave.
SELECT sum(pg_catalog.pg_table_size(c.oid))::bigint AS table_bytes,
       sum(pg_catalog.pg_indexes_size(c.oid))::bigint AS index_bytes,
       sum(pg_stat_get_dead_tuples(c.oid))::bigint AS dead_rows,
       pg_catalog.json_object_agg(c.oid, pg_catalog.pg_relation_filenode(c.oid))::text AS file_nodes,
       max(greatest(age(c.relfrozenxid), age(x.relfrozenxid))) AS transaction_age
  FROM json_array_elements(:objects::json) AS o (pair)
  JOIN pg_catalog.pg_namespace n ON n.nspname = coalesce(o.pair ->> 0, current_schema())
  JOIN pg_catalog.pg_class r ON r.relnamespace = n.oid AND r.relname = o.pair ->> 1
 CROSS JOIN LATERAL (SELECT r.oid AS relid
                      UNION
                     SELECT p.relid FROM pg_catalog.pg_partition_tree(r.oid) p) t
  JOIN pg_catalog.pg_class c ON c.oid = t.relid AND c.relkind IN ('r', 'm')
  LEFT JOIN pg_catalog.pg_class x ON x.oid = c.reltoastrelid;
