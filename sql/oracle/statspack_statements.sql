-- Title: what each statement cost between two Statspack snapshots
-- Needs: SELECT on PERFSTAT.STATS$SQL_SUMMARY
-- License: none
-- Effect: reads only
-- Params: :dbid, :instance, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
-- Statspack keeps the running totals of the statements above its thresholds. Where one is lower at the end, its
-- cursor was loaded anew in between; where the first snapshot lacks it, its total counts, as in Statspack's own
-- report. Times in microseconds.
SELECT q.statement_id, q.plan_id, q.module, q.executions, q.elapsed_seconds, q.cpu_seconds, q.gets, q.disk_reads,
       q.parse_calls
  FROM (SELECT NVL(e.sql_id, TO_CHAR(e.old_hash_value)) AS statement_id,
               CAST(NULL AS VARCHAR2(20)) AS plan_id,
               MAX(e.module) AS module,
               SUM(e.executions - CASE WHEN b.executions <= e.executions THEN b.executions ELSE 0 END)
                   AS executions,
               SUM(e.elapsed_time - CASE WHEN b.executions <= e.executions THEN b.elapsed_time ELSE 0 END) / 1000000
                   AS elapsed_seconds,
               SUM(e.cpu_time - CASE WHEN b.executions <= e.executions THEN b.cpu_time ELSE 0 END) / 1000000
                   AS cpu_seconds,
               SUM(e.buffer_gets - CASE WHEN b.executions <= e.executions THEN b.buffer_gets ELSE 0 END) AS gets,
               SUM(e.disk_reads - CASE WHEN b.executions <= e.executions THEN b.disk_reads ELSE 0 END)
                   AS disk_reads,
               SUM(e.parse_calls - CASE WHEN b.executions <= e.executions THEN b.parse_calls ELSE 0 END)
                   AS parse_calls
          FROM perfstat.stats$sql_summary e
          LEFT JOIN perfstat.stats$sql_summary b
            ON b.snap_id = :first_snap
           AND b.dbid = e.dbid
           AND b.instance_number = e.instance_number
           AND b.old_hash_value = e.old_hash_value
           AND b.text_subset = e.text_subset
         WHERE e.snap_id = :last_snap
           AND e.dbid = :dbid
           AND e.instance_number = :instance
         GROUP BY NVL(e.sql_id, TO_CHAR(e.old_hash_value))
         ORDER BY 5 DESC) q
 WHERE ROWNUM <= 1000
   AND (q.executions > 0 OR q.elapsed_seconds > 0);
