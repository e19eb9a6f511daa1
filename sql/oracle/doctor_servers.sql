-- Title: parallel servers of this instance: started and busy
-- Needs: SELECT on SYS.V_$PX_PROCESS, V_$PX_PROCESS_SYSSTAT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- STATUS and STATISTIC are padded with blanks. The statistics count what every session uses, of V$PX_PROCESS a
-- container may show its own servers only; the larger number is the truer one.
SELECT COUNT(*) AS server_count,
       COALESCE(SUM(CASE WHEN TRIM(p.status) = 'IN USE' THEN 1 ELSE 0 END), 0) AS busy_count,
       (SELECT MAX(s.value)
          FROM v$px_process_sysstat s
         WHERE UPPER(TRIM(s.statistic)) = 'SERVERS IN USE') AS counted_busy
  FROM v$px_process p;
