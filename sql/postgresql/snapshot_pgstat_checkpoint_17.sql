-- Title: Checkpoints, in pg_stat_checkpointer
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 17 and later
SELECT v.metric_name, v.metric_value, v.metric_unit, v.metric_kind
  FROM pg_catalog.pg_stat_checkpointer s
 CROSS JOIN LATERAL (
  VALUES ('checkpoints_timed', s.num_timed::float8, 'checkpoints', 'counter'),
         ('checkpoints_requested', s.num_requested::float8, 'checkpoints', 'counter'),
         ('checkpoint_write_seconds', s.write_time::float8 / 1000::float8, 's', 'counter'),
         ('checkpoint_sync_seconds', s.sync_time::float8 / 1000::float8, 's', 'counter'),
         ('checkpoint_blocks_written', s.buffers_written::float8, 'blocks', 'counter')
 ) AS v(metric_name, metric_value, metric_unit, metric_kind);
