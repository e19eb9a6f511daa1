-- Title: the Statspack snapshot with a given mark
-- Needs: SELECT on PERFSTAT.STATS$SNAPSHOT
-- License: none
-- Effect: reads only
-- Params: :mark
-- Versions: 11.2 to 26ai
SELECT s.dbid AS dbid,
       s.instance_number AS instance_number,
       MAX(s.snap_id) AS snap_id
  FROM perfstat.stats$snapshot s
 WHERE s.ucomment = :mark
 GROUP BY s.dbid, s.instance_number;
