-- Title: What keeps VACUUM from removing dead rows: the oldest transaction, slot or prepared transaction
-- Needs: none; pg_read_all_stats for what sessions of other users do
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT h.holder, h.transaction_age, h.held_seconds, h.remedy
  FROM (SELECT pg_catalog.format('session %s of %s', a.pid, coalesce(a.usename, a.backend_type)) AS holder,
               age(coalesce(a.backend_xmin, a.backend_xid)) AS transaction_age,
               extract(epoch FROM clock_timestamp() - a.xact_start)::float8 AS held_seconds,
               pg_catalog.format('SELECT pg_terminate_backend(%s)', a.pid) AS remedy
          FROM pg_catalog.pg_stat_activity a
         WHERE (a.backend_xmin IS NOT NULL OR a.backend_xid IS NOT NULL) AND a.pid <> pg_backend_pid()
           AND (a.datname = current_database() OR a.datname IS NULL)
           AND a.query NOT ILIKE 'vacuum%' AND a.backend_type <> 'autovacuum worker'
        UNION ALL
        SELECT pg_catalog.format('replication slot %s', s.slot_name), greatest(age(s.xmin), age(s.catalog_xmin)), NULL::float8,
               pg_catalog.format('SELECT pg_drop_replication_slot(%L), when its reader is gone for good', s.slot_name)
          FROM pg_catalog.pg_replication_slots s
         WHERE s.xmin IS NOT NULL OR s.catalog_xmin IS NOT NULL
        UNION ALL
        SELECT pg_catalog.format('prepared transaction %s', p.gid), age(p.transaction),
               extract(epoch FROM clock_timestamp() - p.prepared)::float8, pg_catalog.format('ROLLBACK PREPARED %L', p.gid)
          FROM pg_catalog.pg_prepared_xacts p
         WHERE p.database = current_database()) h
 ORDER BY h.transaction_age DESC NULLS LAST
 LIMIT 3;
