-- Title: counters of the instance that need no licence
-- Needs: SELECT on SYS.V_$SYSSTAT and V_$PARAMETER
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
                  'physical reads cache', 'consistent gets from cache',
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
SELECT 'temp written' AS metric_name,
       s.value * TO_NUMBER(p.value) AS metric_value,
       'bytes' AS metric_unit,
       'counter' AS metric_kind
  FROM v$sysstat s
  JOIN v$parameter p
    ON p.name = 'db_block_size'
 WHERE s.name = 'physical writes direct temporary tablespace';
