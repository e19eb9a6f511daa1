-- Title: sessions of a run on this instance, by their client identifier
-- Needs: SELECT on SYS.V_$SESSION; ALTER SYSTEM to end one (on RDS nothing)
-- License: none
-- Effect: reads only
-- Params: :run
-- Versions: 11.2 to 26ai
-- On Amazon RDS nobody may ALTER SYSTEM; its own procedure ends a session there.
-- Channels of RMAN say its command id, which holds the run's key. Parallel servers carry the identifier of their
-- coordinator and end with it, so they are left out. A session that is marked for kill lives until its transaction
-- (TADDR) is rolled back; without one only its row waits for a client that will not come.
SELECT TO_CHAR(s.sid) || ',' || TO_CHAR(s.serial#) AS session_id,
       TO_CHAR(s.logon_time, 'YYYY-MM-DD HH24:MI:SS') AS begun,
       CASE s.status WHEN 'INACTIVE' THEN 'no' ELSE 'yes' END AS at_work,
       CASE WHEN s.status = 'KILLED' THEN NULL
            WHEN EXISTS (SELECT 1 FROM all_users u WHERE u.username = 'RDSADMIN')
            THEN 'BEGIN rdsadmin.rdsadmin_util.kill(sid => ' || TO_CHAR(s.sid) || ', serial => '
                 || TO_CHAR(s.serial#) || ', method => ''IMMEDIATE''); END;'
            ELSE 'ALTER SYSTEM KILL SESSION ''' || TO_CHAR(s.sid) || ',' || TO_CHAR(s.serial#) || ''' IMMEDIATE'
       END AS kill_text
  FROM v$session s
 WHERE (s.client_identifier = :run
        OR s.client_info LIKE '%DBATK_' || UPPER(REPLACE(SUBSTR(:run, 3), '-', '')) || '%rman channel=%')
   AND s.sid <> TO_NUMBER(SYS_CONTEXT('USERENV', 'SID'))
   AND COALESCE(s.program, '-') NOT LIKE '%(P___)%'
   AND (s.status <> 'KILLED' OR s.taddr IS NOT NULL);
