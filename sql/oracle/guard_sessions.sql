-- Title: active sessions of others, on this instance
-- Needs: SELECT on SYS.V_$SESSION
-- License: none
-- Effect: reads only
-- Params: :ours (names of dbatk's runs, each between bars)
-- Versions: 11.2 to 26ai
-- A session that waits for its client or for a queue may be ACTIVE too; its wait class is Idle. Parallel servers are
-- left out: they belong to their coordinator's statement.
SELECT COUNT(*) AS active_sessions,
       0 AS hidden_sessions
  FROM v$session s
 WHERE s.type = 'USER'
   AND s.status = 'ACTIVE'
   AND (s.state <> 'WAITING' OR s.wait_class <> 'Idle')
   AND s.sid <> TO_NUMBER(SYS_CONTEXT('USERENV', 'SID'))
   AND COALESCE(s.program, '-') NOT LIKE '%(P___)%'
   AND INSTR(:ours, '|' || COALESCE(s.client_identifier, '-') || '|') = 0
   AND COALESCE(s.client_info, '-') NOT LIKE '%DBATK_%rman channel=%';
