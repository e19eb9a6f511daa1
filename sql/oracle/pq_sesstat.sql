-- Title: what parallel execution did for this session's last statement
-- Needs: SELECT on SYS.V_$PQ_SESSTAT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- Names differ: up to 21c `Server Threads`, `DOP`, `Slave Sets`; in 26ai `Servers`, `Server Sets`. All are read.
SELECT s.statistic AS statistic,
       s.last_query AS last_query,
       s.session_total AS session_total
  FROM v$pq_sesstat s;
