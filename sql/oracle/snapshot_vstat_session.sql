-- Title: counters of the sessions of a run, and which sessions these are
-- Needs: SELECT on SYS.V_$SESSTAT, V_$STATNAME and V_$SESSION
-- License: none
-- Effect: reads only
-- Params: :run
-- Versions: 11.2 to 26ai
-- Read from another session, whose own work is left out. When a parallel server is released, what it counted is
-- added to its coordinator's session; servers still at work are left out, or their work would count twice.
-- STATISTIC# differs between releases, so names are kept.
SELECT n.name || ' (session)' AS metric_name,
       SUM(CASE WHEN n.name = 'CPU used by this session' THEN v.value / 100 ELSE v.value END) AS metric_value,
       CASE WHEN n.name LIKE '%bytes' THEN 'bytes'
            WHEN n.name LIKE 'redo size%' THEN 'bytes'
            WHEN n.name = 'undo change vector size' THEN 'bytes'
            WHEN n.name = 'session pga memory max' THEN 'bytes'
            WHEN n.name = 'CPU used by this session' THEN 'seconds'
            ELSE 'count'
       END AS metric_unit,
       CASE n.name WHEN 'session pga memory max' THEN 'gauge' ELSE 'counter' END AS metric_kind
  FROM v$sesstat v
  JOIN v$statname n
    ON n.statistic# = v.statistic#
  JOIN v$session s
    ON s.sid = v.sid
 WHERE s.client_identifier = :run
   AND s.sid <> TO_NUMBER(SYS_CONTEXT('USERENV', 'SID'))
   AND COALESCE(s.program, '-') NOT LIKE '%(P___)%'
   AND n.name IN ('redo size', 'redo size for direct writes', 'undo change vector size',
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
                  'Parallel operations downgraded 1 to 25 pct',
                  'CPU used by this session', 'session pga memory max')
 GROUP BY n.name
UNION ALL
SELECT 'sessions of the run' AS metric_name,
       SUM(s.sid * 1000000 + s.serial#) AS metric_value,
       '(session)' AS metric_unit,
       'identity' AS metric_kind
  FROM v$session s
 WHERE s.client_identifier = :run
   AND s.sid <> TO_NUMBER(SYS_CONTEXT('USERENV', 'SID'))
   AND COALESCE(s.program, '-') NOT LIKE '%(P___)%';
