-- Title: parallel execution statistics of this session's last statement
-- Needs: SELECT on SYS.V_$PQ_SESSTAT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- Names differ: up to 21c `Server Threads`, `DOP`, `Slave Sets`; in 26ai `Servers`, `Server Sets`. All are read.
-- Must be the first thing asked after the statement: value is the last statement's, total the session's.
SELECT 'pq' AS kind,
       s.statistic AS name,
       CAST(NULL AS VARCHAR2(128)) AS detail,
       s.last_query AS value,
       s.session_total AS total
  FROM v$pq_sesstat s;
