-- Title: whether the evidence of the granted degree can be read
-- Needs: SELECT on SYS.V_$PQ_SESSTAT, SYS.V_$PX_SESSION, SYS.V_$SESSION
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT COUNT(*) AS statistic_count
  FROM v$pq_sesstat s;
