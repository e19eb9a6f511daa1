-- Title: administrative privileges that this session has and RMAN needs
-- Needs: nothing
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT p.privilege AS privilege
  FROM session_privs p
 WHERE p.privilege IN ('SYSDBA', 'SYSBACKUP');
