-- Title: statistics of the parallel servers
-- Needs: SELECT on SYS.V_$PX_PROCESS_SYSSTAT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT TRIM(s.statistic) AS statistic,
       s.value AS value
  FROM v$px_process_sysstat s;
