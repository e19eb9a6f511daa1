-- Title: which executions of which statements run for a run now
-- Needs: SELECT on SYS.V_$SESSION
-- License: none
-- Effect: reads only
-- Params: :run
-- Versions: 11.2 to 26ai
-- A parallel statement that met ORA-12842 begins again without a word: one call of ours, several SQL_EXEC_ID.
SELECT 'execution ' || s.sql_id AS metric_name,
       s.sql_exec_id AS metric_value
  FROM v$session s
 WHERE s.client_identifier = :run
   AND s.sid <> TO_NUMBER(SYS_CONTEXT('USERENV', 'SID'))
   AND COALESCE(s.program, '-') NOT LIKE '%(P___)%'
   AND s.status = 'ACTIVE'
   AND s.sql_id IS NOT NULL
   AND s.sql_exec_id IS NOT NULL;
