-- Title: The partitions of a table with their bounds, and what stands in the way of exchanging one
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name of a table
-- Versions: PostgreSQL 14 and later
-- A table without partitions has one row, without a name of a part.
SELECT n.nspname::text AS schema_name, p.relname::text AS table_name, p.relkind::text AS relation_kind,
       CASE WHEN p.relispartition THEN 'yes' ELSE 'no' END AS is_partition,
       CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhrelid = p.oid OR (h.inhparent = p.oid AND p.relkind <> 'p'))
            THEN 'yes' ELSE 'no' END AS inherits,
       CASE WHEN pg_has_role(p.relowner, 'USAGE') THEN 'yes' ELSE 'no' END AS owned,
       (SELECT f.conname::text || ' of ' || f.conrelid::regclass::text FROM pg_catalog.pg_constraint f
         WHERE f.contype = 'f' AND f.confrelid = p.oid AND f.conparentid = 0::oid ORDER BY f.oid LIMIT 1) AS referred_by,
       (SELECT string_agg(pg_catalog.quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attname)
          FROM pg_catalog.pg_attribute a
         WHERE a.attrelid = p.oid AND a.attnum > 0 AND NOT a.attisdropped) AS all_columns,
       cn.nspname::text AS part_schema, c.relname::text AS part_name, c.relkind::text AS part_kind,
       pg_get_expr(c.relpartbound, c.oid) AS bound
  FROM pg_catalog.pg_class p
  JOIN pg_catalog.pg_namespace n ON n.oid = p.relnamespace
  LEFT JOIN (pg_catalog.pg_inherits i
             JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid AND c.relispartition
             JOIN pg_catalog.pg_namespace cn ON cn.oid = c.relnamespace) ON i.inhparent = p.oid
 WHERE n.nspname = coalesce(:schema, current_schema()) AND p.relname = :name
 ORDER BY c.relname;
