-- Title: schemas that identify a managed service or Statspack
-- Needs: nothing: ALL_USERS is open to everyone
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT u.username AS schema_mark
  FROM all_users u
 WHERE u.username IN ('RDSADMIN', 'PERFSTAT');
