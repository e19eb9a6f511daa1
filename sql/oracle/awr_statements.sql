-- Title: what each statement cost between two AWR snapshots
-- Needs: SELECT on SYS.DBA_HIST_SQLSTAT
-- License: Diagnostics Pack
-- Effect: reads only
-- Params: :dbid, :instance, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
-- Deltas belong to the snapshot at the end of their interval, so the first one is left out. Times in microseconds.
SELECT q.statement_id, q.plan_id, q.module, q.executions, q.elapsed_seconds, q.cpu_seconds, q.gets, q.disk_reads,
       q.parse_calls
  FROM (SELECT h.sql_id AS statement_id,
               TO_CHAR(MAX(h.plan_hash_value)) AS plan_id,
               MAX(h.module) AS module,
               SUM(h.executions_delta) AS executions,
               SUM(h.elapsed_time_delta) / 1000000 AS elapsed_seconds,
               SUM(h.cpu_time_delta) / 1000000 AS cpu_seconds,
               SUM(h.buffer_gets_delta) AS gets,
               SUM(h.disk_reads_delta) AS disk_reads,
               SUM(h.parse_calls_delta) AS parse_calls
          FROM dba_hist_sqlstat h
         WHERE h.dbid = :dbid
           AND h.instance_number = :instance
           AND h.snap_id > :first_snap
           AND h.snap_id <= :last_snap
         GROUP BY h.sql_id
         ORDER BY SUM(h.elapsed_time_delta) DESC) q
 WHERE ROWNUM <= 1000;
