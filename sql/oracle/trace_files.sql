-- Title: where the SQL traces of this run's sessions of this instance are written
-- Needs: SELECT on SYS.V_$SESSION and SYS.V_$PROCESS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT 'trace' AS kind,
       'Trace File' AS name,
       p.tracefile AS detail,
       CAST(NULL AS NUMBER) AS value,
       CAST(NULL AS NUMBER) AS total
  FROM v$session s
  JOIN v$process p
    ON p.addr = s.paddr
 WHERE s.client_identifier = SYS_CONTEXT('USERENV', 'CLIENT_IDENTIFIER')
   AND s.sql_trace = 'ENABLED'
   AND s.sid <> TO_NUMBER(SYS_CONTEXT('USERENV', 'SID'));
