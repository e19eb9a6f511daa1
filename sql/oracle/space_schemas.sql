-- Title: default tablespaces of the schemas
-- Needs: SELECT on SYS.DBA_USERS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT u.username AS user_name,
       u.default_tablespace AS default_tablespace
  FROM dba_users u;
