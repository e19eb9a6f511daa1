-- Title: load and CPUs of the host of this instance
-- Needs: SELECT on SYS.V_$OSSTAT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT MAX(CASE WHEN o.stat_name = 'LOAD' THEN o.value END) AS load_average,
       MAX(CASE WHEN o.stat_name = 'NUM_CPUS' THEN o.value END) AS cpu_count
  FROM v$osstat o
 WHERE o.stat_name IN ('LOAD', 'NUM_CPUS');
