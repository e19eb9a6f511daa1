-- Title: Which settings this user may set for the whole server
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 15 and later
SELECT s.name AS name
  FROM pg_catalog.pg_settings s
 WHERE pg_catalog.has_parameter_privilege(s.name, 'ALTER SYSTEM')
   AND pg_catalog.has_function_privilege('pg_catalog.pg_reload_conf()', 'EXECUTE');
