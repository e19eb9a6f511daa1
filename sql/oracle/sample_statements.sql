-- Title: statements and executions that are active for a run
-- Needs: SELECT on SYS.V_$SESSION
-- License: none
-- Effect: reads only
-- Params: :run
-- Versions: 11.2 to 26ai
-- A parallel statement that got ORA-12842 is silently restarted: one call, several SQL_EXEC_ID.
SELECT 'execution ' || s.sql_id AS metric_name,
       s.sql_exec_id AS metric_value
  FROM v$session s
 WHERE s.client_identifier = :run
   AND s.sid <> TO_NUMBER(SYS_CONTEXT('USERENV', 'SID'))
   AND COALESCE(s.program, '-') NOT LIKE '%(P___)%'
   AND s.status = 'ACTIVE'
   AND s.sql_id IS NOT NULL
   AND s.sql_exec_id IS NOT NULL;
