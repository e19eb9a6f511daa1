-- Title: Reads and writes of the whole server by kind of object
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 18 and later
SELECT CASE s.object WHEN 'temp relation' THEN 'io_temp_' WHEN 'wal' THEN 'io_wal_' ELSE 'io_' END
       || v.metric_name AS metric_name,
       v.metric_value, v.metric_unit, 'counter' AS metric_kind
  FROM (SELECT i.object,
               sum(i.reads)::float8 AS reads,
               sum(i.read_bytes)::float8 AS read_bytes,
               sum(i.writes)::float8 AS writes,
               sum(i.write_bytes)::float8 AS write_bytes,
               sum(i.extends)::float8 AS extends,
               sum(i.extend_bytes)::float8 AS extend_bytes,
               sum(i.fsyncs)::float8 AS fsyncs,
               sum(i.evictions)::float8 AS evictions,
               sum(i.read_time) / 1000::float8 AS read_seconds,
               sum(i.write_time) / 1000::float8 AS write_seconds,
               sum(i.extend_time) / 1000::float8 AS extend_seconds,
               sum(i.fsync_time) / 1000::float8 AS fsync_seconds
          FROM pg_catalog.pg_stat_io i
         GROUP BY i.object) s
 CROSS JOIN LATERAL (
  VALUES ('reads', s.reads, 'reads'),
         ('read_bytes', s.read_bytes, 'bytes'),
         ('writes', s.writes, 'writes'),
         ('write_bytes', s.write_bytes, 'bytes'),
         ('extends', s.extends, 'extends'),
         ('extend_bytes', s.extend_bytes, 'bytes'),
         ('fsyncs', s.fsyncs, 'syncs'),
         ('evictions', s.evictions, 'blocks'),
         ('read_seconds', s.read_seconds, 's'),
         ('write_seconds', s.write_seconds, 's'),
         ('extend_seconds', s.extend_seconds, 's'),
         ('fsync_seconds', s.fsync_seconds, 's')
 ) AS v(metric_name, metric_value, metric_unit)
 WHERE v.metric_value IS NOT NULL;
