-- Title: what the counters of an instance grew by between two AWR snapshots
-- Needs: SELECT on SYS.DBA_HIST_SYSSTAT
-- License: Diagnostics Pack
-- Effect: reads only
-- Params: :dbid, :instance, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
SELECT h.stat_name AS statistic_name,
       SUM(CASE h.snap_id WHEN :last_snap THEN h.value ELSE -h.value END) AS total
  FROM dba_hist_sysstat h
 WHERE h.dbid = :dbid
   AND h.instance_number = :instance
   AND h.snap_id IN (:first_snap, :last_snap)
 GROUP BY h.stat_name;
