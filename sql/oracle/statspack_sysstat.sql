-- Title: what the counters of an instance grew by between two Statspack snapshots
-- Needs: SELECT on PERFSTAT.STATS$SYSSTAT
-- License: none
-- Effect: reads only
-- Params: :dbid, :instance, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
SELECT h.name AS statistic_name,
       SUM(CASE h.snap_id WHEN :last_snap THEN h.value ELSE -h.value END) AS total
  FROM perfstat.stats$sysstat h
 WHERE h.dbid = :dbid
   AND h.instance_number = :instance
   AND h.snap_id IN (:first_snap, :last_snap)
 GROUP BY h.name;
