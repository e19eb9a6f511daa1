-- Title: Checkpoints, in pg_stat_bgwriter
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 to 16
SELECT v.metric_name, v.metric_value, v.metric_unit, v.metric_kind
  FROM pg_catalog.pg_stat_bgwriter s
 CROSS JOIN LATERAL (
  VALUES ('checkpoints_timed', s.checkpoints_timed::float8, 'checkpoints', 'counter'),
         ('checkpoints_requested', s.checkpoints_req::float8, 'checkpoints', 'counter'),
         ('checkpoint_write_seconds', s.checkpoint_write_time::float8 / 1000::float8, 's', 'counter'),
         ('checkpoint_sync_seconds', s.checkpoint_sync_time::float8 / 1000::float8, 's', 'counter'),
         ('checkpoint_blocks_written', s.buffers_checkpoint::float8, 'blocks', 'counter'),
         ('backend_blocks_written', s.buffers_backend::float8, 'blocks', 'counter'),
         ('backend_fsyncs', s.buffers_backend_fsync::float8, 'syncs', 'counter')
 ) AS v(metric_name, metric_value, metric_unit, metric_kind);
