-- Title: Parallel workers requested and launched in this database
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 18 and later
SELECT v.metric_name, v.metric_value, v.metric_unit, v.metric_kind
  FROM (SELECT s.* FROM pg_catalog.pg_stat_database s WHERE s.datname = current_database()) s
 CROSS JOIN LATERAL (
  VALUES ('workers_asked', s.parallel_workers_to_launch::float8, 'workers', 'counter'),
         ('workers_launched', s.parallel_workers_launched::float8, 'workers', 'counter')
 ) AS v(metric_name, metric_value, metric_unit, metric_kind);
