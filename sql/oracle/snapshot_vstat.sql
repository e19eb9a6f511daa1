-- Title: counters of the instance that need no licence
-- Needs: SELECT on SYS.V_$SYSSTAT, V_$SYSTEM_EVENT, V_$SYS_TIME_MODEL, V_$OSSTAT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT s.name AS metric_name,
       s.value AS metric_value,
       CASE WHEN s.name LIKE '%bytes' THEN 'bytes'
            WHEN s.name LIKE 'redo size%' THEN 'bytes'
            WHEN s.name = 'undo change vector size' THEN 'bytes'
            ELSE 'count'
       END AS metric_unit,
       'counter' AS metric_kind
  FROM v$sysstat s
 WHERE s.name IN ('redo size', 'redo size for direct writes', 'undo change vector size',
                  'session logical reads', 'db block changes', 'user calls', 'user commits', 'user rollbacks',
                  'execute count', 'parse count (hard)', 'physical reads direct', 'physical writes direct',
                  'physical reads direct temporary tablespace', 'physical writes direct temporary tablespace',
                  'physical read total bytes', 'physical write total bytes',
                  'physical read total IO requests', 'physical write total IO requests',
                  'sorts (disk)', 'sorts (memory)', 'workarea executions - optimal',
                  'workarea executions - onepass', 'workarea executions - multipass',
                  'queries parallelized', 'DML statements parallelized', 'DDL statements parallelized',
                  'DFO trees parallelized', 'Parallel operations not downgraded',
                  'Parallel operations downgraded to serial', 'Parallel operations downgraded 75 to 99 pct',
                  'Parallel operations downgraded 50 to 75 pct', 'Parallel operations downgraded 25 to 50 pct',
                  'Parallel operations downgraded 1 to 25 pct')
UNION ALL
SELECT 'wait ' || e.wait_class AS metric_name,
       SUM(e.time_waited_micro) / 1000000 AS metric_value,
       'seconds' AS metric_unit,
       'counter' AS metric_kind
  FROM v$system_event e
 WHERE e.wait_class <> 'Idle'
 GROUP BY e.wait_class
UNION ALL
SELECT t.stat_name AS metric_name,
       t.value / 1000000 AS metric_value,
       'seconds' AS metric_unit,
       'counter' AS metric_kind
  FROM v$sys_time_model t
 WHERE t.stat_name IN ('DB time', 'DB CPU', 'background elapsed time', 'background cpu time',
                       'sql execute elapsed time', 'parse time elapsed')
UNION ALL
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
