-- Title: the host as the instance sees it
-- Needs: SELECT on SYS.V_$OSSTAT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- Times are in centiseconds. Only what is CUMULATIVE is subtracted.
SELECT 'host ' || o.stat_name AS metric_name,
       CASE WHEN o.stat_name LIKE '%\_TIME' ESCAPE '\' THEN o.value / 100 ELSE o.value END AS metric_value,
       CASE WHEN o.stat_name LIKE '%\_TIME' ESCAPE '\' THEN 'seconds'
            WHEN o.stat_name LIKE '%\_BYTES' ESCAPE '\' THEN 'bytes'
            ELSE 'count'
       END AS metric_unit,
       CASE o.cumulative WHEN 'YES' THEN 'counter' ELSE 'gauge' END AS metric_kind
  FROM v$osstat o
 WHERE o.stat_name IN ('NUM_CPUS', 'NUM_CPU_CORES', 'IDLE_TIME', 'BUSY_TIME', 'USER_TIME', 'SYS_TIME',
                       'IOWAIT_TIME', 'LOAD', 'PHYSICAL_MEMORY_BYTES', 'VM_IN_BYTES', 'VM_OUT_BYTES');
