-- Title: sessions of a run, by their client identifier
-- Needs: SELECT on SYS.V_$SESSION; ALTER SYSTEM to end one
-- License: none
-- Effect: reads only
-- Params: :run
-- Versions: 11.2 to 26ai
-- Parallel servers carry the identifier of their coordinator and end with it, so they are left out.
SELECT TO_CHAR(s.sid) || ',' || TO_CHAR(s.serial#) AS session_id,
       TO_CHAR(s.logon_time, 'YYYY-MM-DD HH24:MI:SS') AS begun,
       'ALTER SYSTEM KILL SESSION ''' || TO_CHAR(s.sid) || ',' || TO_CHAR(s.serial#) || ''' IMMEDIATE' AS kill_text
  FROM v$session s
 WHERE s.client_identifier = :run
   AND s.sid <> TO_NUMBER(SYS_CONTEXT('USERENV', 'SID'))
   AND COALESCE(s.program, '-') NOT LIKE '%(P___)%'
   AND s.status <> 'KILLED';
