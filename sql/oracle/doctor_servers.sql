-- Title: parallel servers of this instance: started and busy
-- Needs: SELECT on SYS.V_$PX_PROCESS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- STATUS is padded with blanks.
SELECT COUNT(*) AS server_count,
       COALESCE(SUM(CASE WHEN TRIM(p.status) = 'IN USE' THEN 1 ELSE 0 END), 0) AS busy_count
  FROM v$px_process p;
