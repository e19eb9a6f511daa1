-- Title: Tables with the most dead rows, and those whose rows were not frozen for long
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
-- Dead rows as the server's statistics know them; an age near autovacuum_freeze_max_age forces an autovacuum.
(SELECT 'dead rows' AS kind, pg_catalog.format('%I.%I', s.schemaname, s.relname) AS name, s.n_dead_tup AS amount,
        s.n_live_tup AS beside, pg_catalog.pg_table_size(s.relid) AS byte_count
   FROM pg_catalog.pg_stat_user_tables s
  WHERE s.n_dead_tup > 1000 AND s.n_dead_tup::float8 > 0.1::float8 * s.n_live_tup::float8
  ORDER BY s.n_dead_tup DESC
  LIMIT 5)
UNION ALL
(SELECT 'age', pg_catalog.format('%I.%I', n.nspname, c.relname), age(c.relfrozenxid),
        current_setting('autovacuum_freeze_max_age')::bigint, pg_catalog.pg_table_size(c.oid)
   FROM pg_catalog.pg_class c
   JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'm', 't') AND c.relfrozenxid <> '0' AND c.relpersistence <> 't'
    AND age(c.relfrozenxid)::float8 > 0.8::float8 * current_setting('autovacuum_freeze_max_age')::float8
  ORDER BY age(c.relfrozenxid) DESC
  LIMIT 5);
