-- Title: whether this user may set parameters of the instance
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT p.privilege AS privilege
  FROM session_privs p
 WHERE p.privilege = 'ALTER SYSTEM';
