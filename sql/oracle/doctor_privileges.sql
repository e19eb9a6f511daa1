-- Title: system privileges of this session
-- Needs: nothing
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT p.privilege AS privilege
  FROM session_privs p;
