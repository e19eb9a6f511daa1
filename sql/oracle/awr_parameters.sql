-- Title: parameters at the end of a range of AWR snapshots, and those changed within
-- Needs: SELECT on SYS.DBA_HIST_PARAMETER
-- License: Diagnostics Pack
-- Effect: reads only
-- Params: :dbid, :instance, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
SELECT h.snap_id AS snap_id,
       h.parameter_name AS name,
       h.value AS value
  FROM dba_hist_parameter h
 WHERE h.dbid = :dbid
   AND h.instance_number = :instance
   AND h.snap_id IN (:first_snap, :last_snap);
