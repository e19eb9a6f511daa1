-- Title: host, name and database of the instance of this session
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT SYS_CONTEXT('USERENV', 'SERVER_HOST') || '/' || SYS_CONTEXT('USERENV', 'INSTANCE_NAME')
       || '/' || SYS_CONTEXT('USERENV', 'DB_UNIQUE_NAME') AS place
  FROM dual;
