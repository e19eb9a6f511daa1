-- Title: where the instance spends its time
-- Needs: SELECT on SYS.V_$SYS_TIME_MODEL
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- VALUE is in microseconds.
SELECT t.stat_name AS metric_name,
       t.value / 1000000 AS metric_value,
       'seconds' AS metric_unit,
       'counter' AS metric_kind
  FROM v$sys_time_model t
 WHERE t.stat_name IN ('DB time', 'DB CPU', 'background elapsed time', 'background cpu time',
                       'sql execute elapsed time', 'parse time elapsed');
