-- Title: the managed service, when there is one
-- Needs: nothing
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 18 to 26ai
-- Asked alone: an older release does not know the key and refuses the whole row (ORA-02003).
SELECT SYS_CONTEXT('USERENV', 'CLOUD_SERVICE') AS cloud_service
  FROM dual;
