-- Title: the newest AWR snapshot of each database id and instance
-- Needs: SELECT on SYS.DBA_HIST_SNAPSHOT
-- License: none (DBA_HIST_SNAPSHOT is free)
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- In a pluggable database the ids of both repositories can be seen: the one that grew contains the new snapshot.
SELECT s.dbid AS dbid,
       s.instance_number AS instance_number,
       MAX(s.snap_id) AS snap_id
  FROM dba_hist_snapshot s
 GROUP BY s.dbid, s.instance_number;
