-- Title: Progress of index builds, ANALYZE and rewrites of a run
-- Needs: none for one's own sessions
-- License: none
-- Effect: reads only
-- Params: :run (the run's id, which is the application_name of its sessions)
-- Versions: PostgreSQL 14 and later
-- An index build counts blocks while it scans and tuples while it loads; each phase counts from the beginning.
SELECT 'index build: ' || p.phase AS operation,
       p.relid::regclass::text AS target,
       CASE WHEN p.tuples_total > 0 THEN p.tuples_done ELSE p.blocks_done END AS done,
       CASE WHEN p.tuples_total > 0 THEN p.tuples_total ELSE p.blocks_total END AS total,
       CASE WHEN p.tuples_total > 0 THEN 'rows' ELSE 'blocks' END AS unit,
       NULL::float8 AS seconds_left
  FROM pg_catalog.pg_stat_progress_create_index p
  JOIN pg_catalog.pg_stat_activity a ON a.pid = p.pid
 WHERE a.application_name = :run
 UNION ALL
SELECT 'analyze: ' || p.phase, p.relid::regclass::text, p.sample_blks_scanned, p.sample_blks_total, 'blocks', NULL
  FROM pg_catalog.pg_stat_progress_analyze p
  JOIN pg_catalog.pg_stat_activity a ON a.pid = p.pid
 WHERE a.application_name = :run
 UNION ALL
SELECT lower(p.command) || ': ' || p.phase, p.relid::regclass::text, p.heap_blks_scanned, p.heap_blks_total, 'blocks',
       NULL
  FROM pg_catalog.pg_stat_progress_cluster p
  JOIN pg_catalog.pg_stat_activity a ON a.pid = p.pid
 WHERE a.application_name = :run;
