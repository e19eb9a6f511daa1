-- Title: parameters at both ends of a range of Statspack snapshots
-- Needs: SELECT on PERFSTAT.STATS$PARAMETER
-- License: none
-- Effect: reads only
-- Params: :dbid, :instance, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
SELECT h.snap_id AS snap_id,
       h.name AS name,
       h.value AS value
  FROM perfstat.stats$parameter h
 WHERE h.dbid = :dbid
   AND h.instance_number = :instance
   AND h.snap_id IN (:first_snap, :last_snap);
