-- Title: the host as an instance saw it between two AWR snapshots
-- Needs: SELECT on SYS.DBA_HIST_OSSTAT and V_$OSSTAT
-- License: Diagnostics Pack
-- Effect: reads only
-- Params: :dbid, :instance, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
-- Only what is CUMULATIVE is subtracted; times are in centiseconds.
SELECT h.stat_name AS statistic_name,
       SUM(CASE WHEN o.cumulative = 'YES' AND h.snap_id = :first_snap THEN -h.value
                WHEN o.cumulative = 'YES' THEN h.value
                WHEN h.snap_id = :last_snap THEN h.value
           END) AS total
  FROM dba_hist_osstat h
  JOIN v$osstat o
    ON o.stat_name = h.stat_name
 WHERE h.dbid = :dbid
   AND h.instance_number = :instance
   AND h.snap_id IN (:first_snap, :last_snap)
 GROUP BY h.stat_name;
