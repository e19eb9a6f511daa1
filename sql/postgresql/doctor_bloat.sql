-- Title: How large a table and its largest rows should be by the statistics, and how large it is
-- Needs: SELECT on the table (pg_stats shows only readable columns)
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: PostgreSQL 14 and later
-- Of each row: 28 bytes of head and pointer, the average widths of its columns, rounded up to 8 bytes. Without
-- statistics of every column no estimate. TOAST is left out on both sides.
SELECT n.nspname::text AS schema_name, c.relname::text AS table_name,
       pg_catalog.pg_relation_size(c.oid) AS byte_count,
       pg_stat_get_dead_tuples(c.oid) AS dead_rows,
       CASE WHEN c.reltuples >= 0::real AND w.column_count = w.known_count THEN
         ceil(c.reltuples::float8 * (28::float8 + 8::float8 * ceil(w.width / 8::float8))
              / (current_setting('block_size')::float8 - 24::float8)
              / (coalesce(substring(pg_catalog.array_to_string(c.reloptions, ',') FROM 'fillfactor=([0-9]+)')::float8, 100) / 100::float8))
         * current_setting('block_size')::float8 END AS expected_bytes,
       (SELECT sum(pg_catalog.pg_relation_size(i.indexrelid))::bigint FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid)
         AS index_bytes,
       CASE WHEN c.relfrozenxid <> '0' THEN age(c.relfrozenxid) END AS transaction_age
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 CROSS JOIN LATERAL (SELECT count(*) AS column_count, pg_catalog.count(s.avg_width) AS known_count,
                            coalesce(sum(s.avg_width::float8 * (1::float8 - s.null_frac::float8)), 0::float8) AS width
                       FROM pg_catalog.pg_attribute a
                       LEFT JOIN pg_catalog.pg_stats s
                         ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = a.attname
                        AND NOT s.inherited
                      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) w
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relname = :name AND c.relkind IN ('r', 'm');
