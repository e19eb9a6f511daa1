-- Title: whether a schema exists
-- Needs: nothing: ALL_USERS is open to everyone
-- License: none
-- Effect: reads only
-- Params: :schema (exact case)
-- Versions: 11.2 to 26ai
SELECT u.username AS schema_name
  FROM all_users u
 WHERE u.username = :schema;
