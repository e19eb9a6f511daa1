-- Title: The tables with most space that their rows should not need, by the statistics
-- Needs: SELECT on the tables (pg_stats shows only readable columns)
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
-- The estimate of doctor_bloat.sql, for tables of more than 16 MiB by the last VACUUM or ANALYZE.
SELECT w.schema_name, w.table_name, w.byte_count, w.expected_bytes
  FROM (SELECT n.nspname::text AS schema_name, c.relname::text AS table_name,
               pg_catalog.pg_relation_size(c.oid) AS byte_count,
               ceil(c.reltuples::float8 * (28::float8 + 8::float8 * ceil(s.width / 8::float8))
                    / (current_setting('block_size')::float8 - 24::float8)
                    / (coalesce(substring(pg_catalog.array_to_string(c.reloptions, ',') FROM 'fillfactor=([0-9]+)')::float8, 100) / 100::float8))
               * current_setting('block_size')::float8 AS expected_bytes
          FROM pg_catalog.pg_class c
          JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         CROSS JOIN LATERAL (SELECT count(*) AS column_count, pg_catalog.count(p.avg_width) AS known_count,
                                    coalesce(sum(p.avg_width::float8 * (1::float8 - p.null_frac::float8)), 0::float8) AS width
                               FROM pg_catalog.pg_attribute a
                               LEFT JOIN pg_catalog.pg_stats p
                                 ON p.schemaname = n.nspname AND p.tablename = c.relname AND p.attname = a.attname
                                AND NOT p.inherited
                              WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) s
         WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't' AND c.reltuples >= 0::real
           AND c.relpages::float8 * current_setting('block_size')::float8 > 16777216::float8
           AND n.nspname NOT IN ('pg_catalog', 'information_schema')
           AND s.column_count = s.known_count) w
 WHERE w.byte_count::float8 - w.expected_bytes > greatest(16777216::float8, 0.3::float8 * w.byte_count::float8)
 ORDER BY w.byte_count::float8 - w.expected_bytes DESC
 LIMIT 5;
