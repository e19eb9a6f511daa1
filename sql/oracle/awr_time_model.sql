-- Title: where an instance spent its time between two AWR snapshots
-- Needs: SELECT on SYS.DBA_HIST_SYS_TIME_MODEL
-- License: Diagnostics Pack
-- Effect: reads only
-- Params: :dbid, :instance, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
-- VALUE is in microseconds.
SELECT h.stat_name AS statistic_name,
       SUM(CASE h.snap_id WHEN :last_snap THEN h.value ELSE -h.value END) / 1000000 AS total_seconds
  FROM dba_hist_sys_time_model h
 WHERE h.dbid = :dbid
   AND h.instance_number = :instance
   AND h.snap_id IN (:first_snap, :last_snap)
 GROUP BY h.stat_name;
