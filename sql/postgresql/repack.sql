-- Title: Whether the extension pg_repack is in this database or could be, whether this user may use it, and another does
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'pg_repack') AS installed_version,
       (SELECT a.default_version FROM pg_catalog.pg_available_extensions a WHERE a.name = 'pg_repack')
         AS available_version,
       CASE WHEN (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname = current_user)
            THEN 'yes' ELSE 'no' END AS is_superuser,
       CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_stat_activity a
                          WHERE a.application_name = 'pg_repack' AND a.datname = current_database())
            THEN 'yes' ELSE 'no' END AS is_at_work;
