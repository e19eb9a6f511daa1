-- Title: schemas
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT u.username AS schema_name
  FROM all_users u
 ORDER BY u.username;
