-- Title: automatic maintenance tasks that are enabled
-- Needs: SELECT on SYS.DBA_AUTOTASK_CLIENT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT c.client_name AS client_name,
       c.status AS status
  FROM dba_autotask_client c;
