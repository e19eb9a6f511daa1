-- Title: Settings of this session that decide what an unqualified name and a statement mean
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT current_setting('search_path') AS search_path,
       pg_catalog.array_to_string(current_schemas(false), ', ') AS schemas,
       current_schema()::text AS current_schema,
       current_setting('role') AS role,
       current_setting('default_tablespace') AS default_tablespace,
       current_setting('temp_tablespaces') AS temp_tablespaces,
       current_setting('default_table_access_method') AS default_table_access_method,
       current_setting('session_replication_role') AS session_replication_role,
       current_setting('row_security') AS row_security,
       -- shown to superusers and pg_read_all_settings; only superusers can set it
       (SELECT s.setting FROM pg_settings s WHERE s.name = 'session_preload_libraries') AS session_preload_libraries,
       current_setting('local_preload_libraries') AS local_preload_libraries,
       current_setting('DateStyle') AS date_style,
       current_setting('IntervalStyle') AS interval_style,
       current_setting('TimeZone') AS time_zone,
       current_setting('max_parallel_workers_per_gather') AS max_parallel_workers_per_gather,
       current_setting('max_parallel_maintenance_workers') AS max_parallel_maintenance_workers,
       current_setting('parallel_leader_participation') AS parallel_leader_participation,
       (SELECT string_agg(s.name || '=' || s.setting, ', ' ORDER BY s.name)
          FROM pg_settings s
         WHERE s.source IN ('client', 'user', 'database', 'database user')
           AND s.name <> 'application_name') AS set_for_it,
       -- pg_settings does not list names that no extension declares; views and policies read them all the same.
       -- Of the values, which may be secrets, there is a digest
       (SELECT string_agg(c.name || ' ' || pg_catalog.left(pg_catalog.encode(pg_catalog.sha256(
                          pg_catalog.convert_to(c.setting, 'UTF8')), 'hex'), 12), ', ' ORDER BY c.name, c.setting)
          FROM (SELECT pg_catalog.split_part(o.setting, '=', 1), o.setting
                  FROM pg_catalog.pg_db_role_setting r, pg_catalog.unnest(r.setconfig) AS o(setting)
                 WHERE r.setdatabase IN (0, (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = current_database()))
                   AND r.setrole IN (0, (SELECT u.oid FROM pg_catalog.pg_roles u WHERE u.rolname = session_user))
                 UNION ALL
                SELECT CASE WHEN v.options LIKE '%.%' THEN 'options of the client, with a `.`' END, v.options
                  FROM (SELECT current_setting('dbatk.options', true)) AS v(options)) AS c(name, setting)
         WHERE c.name LIKE '%.%') AS own_settings;
