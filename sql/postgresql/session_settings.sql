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
           AND s.name <> 'application_name') AS set_for_it;
