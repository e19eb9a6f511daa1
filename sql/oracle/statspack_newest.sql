-- Title: the newest Statspack snapshot of each database id and instance
-- Needs: SELECT on PERFSTAT.STATS$SNAPSHOT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT s.dbid AS dbid,
       s.instance_number AS instance_number,
       MAX(s.snap_id) AS snap_id
  FROM perfstat.stats$snapshot s
 GROUP BY s.dbid, s.instance_number;
