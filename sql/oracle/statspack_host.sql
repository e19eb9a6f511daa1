-- Title: the host as an instance saw it between two Statspack snapshots
-- Needs: SELECT on PERFSTAT.STATS$OSSTAT and STATS$OSSTATNAME
-- License: none
-- Effect: reads only
-- Params: :dbid, :instance, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
-- Only what is CUMULATIVE is subtracted; times are in centiseconds.
SELECT n.stat_name AS statistic_name,
       SUM(CASE WHEN n.cumulative = 'YES' AND h.snap_id = :first_snap THEN -h.value
                WHEN n.cumulative = 'YES' THEN h.value
                WHEN h.snap_id = :last_snap THEN h.value
           END) AS total
  FROM perfstat.stats$osstat h
  JOIN perfstat.stats$osstatname n
    ON n.osstat_id = h.osstat_id
 WHERE h.dbid = :dbid
   AND h.instance_number = :instance
   AND h.snap_id IN (:first_snap, :last_snap)
 GROUP BY n.stat_name;
