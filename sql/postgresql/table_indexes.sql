-- Title: Indexes of a table; of a partitioned one those of its partitions
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: PostgreSQL 14 and later
SELECT s.nspname::text AS schema_name, i.relname::text AS index_name,
       n.nspname::text AS table_schema, c.relname::text AS table_name,
       CASE WHEN x.indisunique THEN 'yes' ELSE 'no' END AS is_unique,
       CASE WHEN x.indisvalid THEN 'yes' ELSE 'no' END AS is_valid,
       pg_catalog.pg_relation_size(i.oid) AS byte_count,
       -- the text after the table's name, cut at its exact known prefix: names may hold anything
       CASE WHEN starts_with(d.text, p.head || p.qualified) THEN substr(d.text, length(p.head || p.qualified) + 1)
            WHEN starts_with(d.text, p.head || p.bare) THEN substr(d.text, length(p.head || p.bare) + 1)
       END AS definition,
       (SELECT string_agg(pg_get_indexdef(i.oid, k.number, true), ', ' ORDER BY k.number)
          FROM pg_catalog.generate_series(1, x.indnkeyatts) AS k(number)) AS column_list,
       m.amname::text AS method,
       t.spcname::text AS tablespace,
       CASE c.relkind WHEN 'r' THEN 'table' WHEN 'm' THEN 'materialized view' ELSE 'TOAST table' END AS table_kind,
       CASE WHEN pg_has_role(c.relowner, 'USAGE') THEN 'yes' ELSE 'no' END AS table_owned,
       substring(pg_catalog.array_to_string(c.reloptions, ',') FROM 'parallel_workers=([0-9]+)')::integer AS table_workers,
       -- what a REINDEX CONCURRENTLY that did not come to its end leaves beside the index of the table it was for
       CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_index y JOIN pg_catalog.pg_class l ON l.oid = y.indexrelid
                          WHERE y.indrelid = x.indrelid AND NOT y.indisvalid
                            AND l.relname::text ~ '_cc(new|old)[0-9]*$') THEN 'yes' ELSE 'no' END AS has_leftover
  FROM pg_catalog.pg_index x
  JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
  JOIN pg_catalog.pg_namespace s ON s.oid = i.relnamespace
  JOIN pg_catalog.pg_class c ON c.oid = x.indrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_am m ON m.oid = i.relam
  LEFT JOIN pg_catalog.pg_tablespace t ON t.oid = i.reltablespace
 CROSS JOIN LATERAL (SELECT pg_get_indexdef(i.oid) AS text) d
 CROSS JOIN LATERAL (SELECT 'CREATE ' || CASE WHEN x.indisunique THEN 'UNIQUE ' ELSE '' END || 'INDEX '
                            || pg_catalog.quote_ident(i.relname) || ' ON ' || CASE i.relkind WHEN 'I' THEN 'ONLY ' ELSE '' END
                            AS head,
                            pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname) || ' ' AS qualified,
                            pg_catalog.quote_ident(c.relname) || ' ' AS bare) p
 WHERE i.oid IN (SELECT coalesce(leaf.relid::oid, r.oid)
                   FROM pg_catalog.pg_index rx
                   JOIN pg_catalog.pg_class r ON r.oid = rx.indexrelid
                   JOIN pg_catalog.pg_class rc ON rc.oid = rx.indrelid
                   JOIN pg_catalog.pg_namespace rn ON rn.oid = rc.relnamespace
                   LEFT JOIN LATERAL (SELECT t.relid FROM pg_catalog.pg_partition_tree(r.oid) t WHERE t.isleaf) leaf
                     ON r.relkind = 'I'
                  WHERE rn.nspname = coalesce(:schema, current_schema()) AND rc.relname = :name)
   AND (x.indisvalid OR i.relname::text !~ '_cc(new|old)[0-9]*$')
 ORDER BY byte_count DESC, i.relname;
