-- Title: the host as the instance sees it: cumulated and current values
-- Needs: SELECT on SYS.V_$OSSTAT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT o.stat_name AS metric_name,
       CASE WHEN o.stat_name LIKE '%\_TIME' ESCAPE '\' THEN o.value / 100 ELSE o.value END AS metric_value,
       CASE WHEN o.stat_name LIKE '%\_TIME' ESCAPE '\' THEN 's'
            WHEN o.stat_name LIKE '%\_BYTES' ESCAPE '\' THEN 'bytes'
            ELSE 'count'
       END AS metric_unit,
       CASE o.cumulative WHEN 'YES' THEN 'counter' ELSE 'gauge' END AS metric_kind
  FROM v$osstat o;
