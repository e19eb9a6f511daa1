-- Title: the kind of Autonomous Database this is, if it is one
-- Needs: nothing
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 18 to 26ai; before, ORA-02003
SELECT SYS_CONTEXT('USERENV', 'CLOUD_SERVICE') AS cloud_service
  FROM dual;
