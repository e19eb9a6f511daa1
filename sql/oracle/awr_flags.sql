-- Title: how AWR snapshots of a range were taken
-- Needs: SELECT on SYS.DBA_HIST_SNAPSHOT
-- License: none (DBA_HIST_SNAPSHOT is free)
-- Effect: reads only
-- Params: :dbid, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
-- SNAP_FLAG (Database Reference, DBA_HIST_SNAPSHOT): 1 taken by hand, 2 imported, 4 the Diagnostics Pack was off.
SELECT s.snap_id AS snap_id,
       s.instance_number AS instance_number,
       s.snap_flag AS snap_flag
  FROM dba_hist_snapshot s
 WHERE s.dbid = :dbid
   AND s.snap_id BETWEEN :first_snap AND :last_snap;
