-- Title: cumulated cost of each statement in the shared pool, the most expensive first
-- Needs: SELECT on SYS.V_$SQLSTATS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- Times are in microseconds. A statement that fell out of the shared pool meanwhile is counted from zero when it reappears.
SELECT q.statement_id,
       q.plan_id,
       q.statement_text,
       q.executions,
       q.elapsed_seconds,
       q.cpu_seconds,
       q.io_wait_seconds,
       q.gets,
       q.disk_reads,
       q.parse_calls,
       q.row_count
  FROM (SELECT s.sql_id AS statement_id,
               s.plan_hash_value AS plan_id,
               SUBSTR(s.sql_text, 1, 1000) AS statement_text,
               s.executions AS executions,
               s.elapsed_time / 1000000 AS elapsed_seconds,
               s.cpu_time / 1000000 AS cpu_seconds,
               s.user_io_wait_time / 1000000 AS io_wait_seconds,
               s.buffer_gets AS gets,
               s.disk_reads AS disk_reads,
               s.parse_calls AS parse_calls,
               s.rows_processed AS row_count
          FROM v$sqlstats s
         ORDER BY s.elapsed_time DESC) q
 WHERE ROWNUM <= 2000;
