-- Title: channels of RMAN that are at work, of one session or under a name of ours
-- Needs: SELECT on SYS.V_$SESSION; ALTER SYSTEM to end one
-- License: none
-- Effect: reads only
-- Params: :command_id
-- Versions: 11.2 to 26ai
-- Channels end with their client. One that did not is named here with the statement that ends it.
SELECT TO_CHAR(s.sid) || ',' || TO_CHAR(s.serial#) AS session_id,
       s.client_info AS client_info,
       s.event AS event,
       'ALTER SYSTEM KILL SESSION ''' || TO_CHAR(s.sid) || ',' || TO_CHAR(s.serial#) || ''' IMMEDIATE' AS kill_text
  FROM v$session s
 WHERE s.client_info LIKE '%' || :command_id || '%'
   AND s.client_info LIKE '%rman channel=%'
   AND s.status <> 'KILLED'
 ORDER BY s.sid;
