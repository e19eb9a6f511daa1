-- Title: where an instance spent its time between two Statspack snapshots
-- Needs: SELECT on PERFSTAT.STATS$SYS_TIME_MODEL and STATS$TIME_MODEL_STATNAME
-- License: none
-- Effect: reads only
-- Params: :dbid, :instance, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
-- VALUE is in microseconds.
SELECT n.stat_name AS statistic_name,
       SUM(CASE h.snap_id WHEN :last_snap THEN h.value ELSE -h.value END) / 1000000 AS total_seconds
  FROM perfstat.stats$sys_time_model h
  JOIN perfstat.stats$time_model_statname n
    ON n.stat_id = h.stat_id
 WHERE h.dbid = :dbid
   AND h.instance_number = :instance
   AND h.snap_id IN (:first_snap, :last_snap)
 GROUP BY n.stat_name;
