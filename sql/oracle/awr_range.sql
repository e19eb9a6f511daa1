-- Title: AWR snapshots of a range
-- Needs: SELECT on SYS.DBA_HIST_SNAPSHOT
-- License: none (DBA_HIST_SNAPSHOT is free)
-- Effect: reads only
-- Params: :dbid, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
SELECT s.snap_id AS snap_id,
       s.instance_number AS instance_number,
       TO_CHAR(s.startup_time, 'YYYY-MM-DD HH24:MI:SS') AS begun,
       TO_CHAR(s.begin_interval_time, 'YYYY-MM-DD HH24:MI:SS') AS begin_time,
       TO_CHAR(s.end_interval_time, 'YYYY-MM-DD HH24:MI:SS') AS end_time,
       s.snap_level AS snap_level,
       s.error_count AS error_count
  FROM dba_hist_snapshot s
 WHERE s.dbid = :dbid
   AND s.snap_id BETWEEN :first_snap AND :last_snap
 ORDER BY s.snap_id, s.instance_number;
