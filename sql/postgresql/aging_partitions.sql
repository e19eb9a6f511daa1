-- Title: The partitions of a table by ranges of time: before which instant the rows of each lie, and their sizes
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the partitioned table
-- Versions: PostgreSQL 14 and later
-- A bound is spelled in the DateStyle and time zone of the session, in which it is read here. ends_at is null where a
-- partition has no end (MAXVALUE, DEFAULT, infinity) or its key is no time; `now` is in the same time zone.
SELECT n.nspname::text AS schema_name, p.relname::text AS table_name,
       k.partstrat::text AS strategy, k.partnatts AS key_count,
       format_type(a.atttypid, NULL) AS key_type,
       to_char(localtimestamp, 'YYYY-MM-DD HH24:MI:SS') AS now,
       (SELECT f.conname::text || ' of ' || f.conrelid::regclass::text FROM pg_catalog.pg_constraint f
         WHERE f.contype = 'f' AND f.confrelid = p.oid ORDER BY f.oid LIMIT 1) AS referred_by,
       cn.nspname::text AS part_schema, c.relname::text AS part_name,
       pg_get_expr(c.relpartbound, c.oid) AS bound,
       CASE WHEN i.inhdetachpending THEN 'yes' ELSE 'no' END AS detach_pending,
       (SELECT sum(pg_catalog.pg_total_relation_size(l.relid))::bigint
          FROM (SELECT c.oid AS relid UNION SELECT t.relid FROM pg_catalog.pg_partition_tree(c.oid) t) l) AS byte_count,
       CASE WHEN b.text IS NULL THEN NULL
            WHEN a.atttypid IN ('date'::regtype, 'timestamp'::regtype) THEN
              CASE WHEN isfinite(b.text::timestamp) THEN to_char(b.text::timestamp, 'YYYY-MM-DD HH24:MI:SS.US') END
            WHEN a.atttypid = 'timestamptz'::regtype::oid THEN
              CASE WHEN isfinite(b.text::timestamptz)
                   THEN to_char(b.text::timestamptz, 'YYYY-MM-DD HH24:MI:SS.US') END
       END AS ends_at
  FROM pg_catalog.pg_class p
  JOIN pg_catalog.pg_namespace n ON n.oid = p.relnamespace
  JOIN pg_catalog.pg_partitioned_table k ON k.partrelid = p.oid
  LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = p.oid AND a.attnum = k.partattrs[0] AND a.attnum > 0
  LEFT JOIN (pg_catalog.pg_inherits i
             JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
             JOIN pg_catalog.pg_namespace cn ON cn.oid = c.relnamespace) ON i.inhparent = p.oid
 CROSS JOIN LATERAL (SELECT substring(pg_get_expr(c.relpartbound, c.oid) FROM ' TO \(''([^'']*)''\)$') AS text) b
 WHERE n.nspname = coalesce(:schema, current_schema()) AND p.relname = :name
 ORDER BY c.relname;
