-- Title: where the instance spends its time
-- Needs: SELECT on SYS.V_$SYS_TIME_MODEL
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT t.stat_name AS statistic_name,
       t.value / 1000000 AS total_seconds
  FROM v$sys_time_model t;
