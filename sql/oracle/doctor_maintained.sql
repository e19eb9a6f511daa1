-- Title: schemas of the database software
-- Needs: nothing: ALL_USERS is open to everyone
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 12.1 to 26ai
SELECT u.username AS schema_name,
       u.oracle_maintained AS oracle_maintained
  FROM all_users u
 WHERE u.oracle_maintained = 'Y';
