-- Title: Privileges of the user of this session
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT current_user::text AS user_name, current_database()::text AS database_name,
       current_schema()::text AS schema_name,
       CASE WHEN r.rolsuper THEN 'yes' ELSE 'no' END AS is_superuser,
       CASE WHEN current_schema() IS NOT NULL AND pg_catalog.has_schema_privilege(current_schema(), 'CREATE')
            THEN 'yes' ELSE 'no' END AS may_create,
       CASE WHEN pg_has_role(current_user, 'pg_read_all_stats'::name, 'USAGE')
            THEN 'yes' ELSE 'no' END AS reads_all_stats,
       CASE WHEN pg_has_role(current_user, 'pg_signal_backend'::name, 'USAGE') THEN 'yes' ELSE 'no' END AS may_signal,
       CASE WHEN has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')
            THEN 'yes' ELSE 'no' END AS reads_control
  FROM pg_catalog.pg_roles r
 WHERE r.rolname = current_user;
