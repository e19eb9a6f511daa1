-- Title: Writes and syncs of the write-ahead log
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 to 17
SELECT v.metric_name, v.metric_value, v.metric_unit, v.metric_kind
  FROM pg_catalog.pg_stat_wal s
 CROSS JOIN LATERAL (
  VALUES ('wal_writes', s.wal_write::float8, 'writes', 'counter'),
         ('wal_syncs', s.wal_sync::float8, 'syncs', 'counter'),
         ('wal_write_seconds', s.wal_write_time::float8 / 1000::float8, 's', 'counter'),
         ('wal_sync_seconds', s.wal_sync_time::float8 / 1000::float8, 's', 'counter')
 ) AS v(metric_name, metric_value, metric_unit, metric_kind);
