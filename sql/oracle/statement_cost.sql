-- Title: cost of a statement, including its parallel servers
-- Needs: SELECT on SYS.V_$SQL
-- License: none
-- Effect: reads only
-- Params: :statement_id (its SQL_ID)
-- Versions: 11.2 to 26ai
-- Sums over the cursor's children. No row where the cursor is not kept, as may be with DDL.
SELECT 'sql' AS kind,
       'parallel server executions' AS name,
       TO_CHAR(SUM(q.executions)) AS detail,
       SUM(q.px_servers_executions) AS value,
       SUM(q.executions) AS total
  FROM v$sql q
 WHERE q.sql_id = :statement_id
 GROUP BY q.sql_id
UNION ALL
SELECT 'sql' AS kind,
       'physical bytes' AS name,
       TO_CHAR(SUM(q.executions)) AS detail,
       SUM(q.physical_read_bytes) AS value,
       SUM(q.physical_write_bytes) AS total
  FROM v$sql q
 WHERE q.sql_id = :statement_id
 GROUP BY q.sql_id
UNION ALL
SELECT 'sql' AS kind,
       'microseconds' AS name,
       TO_CHAR(SUM(q.executions)) AS detail,
       SUM(q.cpu_time) AS value,
       SUM(q.elapsed_time) AS total
  FROM v$sql q
 WHERE q.sql_id = :statement_id
 GROUP BY q.sql_id;
