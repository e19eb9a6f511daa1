-- Title: Release, database, user and start of the server
-- Needs: none (the system identifier needs EXECUTE on pg_control_system(), which PUBLIC has by default)
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT current_setting('server_version') AS version_text,
       split_part(version(), ' ', 1) AS edition,
       current_database()::text AS database_name,
       (SELECT d.oid::text FROM pg_catalog.pg_database d WHERE d.datname = current_database()) || '@'
       || CASE WHEN has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')
               -- ts_stat runs its query only when it is called, so that a missing grant is no error
               THEN (SELECT t.word FROM ts_stat('SELECT array_to_tsvector(ARRAY[system_identifier::text])
                                                   FROM pg_catalog.pg_control_system()') t)
               ELSE 'unknown' END AS database_id,
       current_user::text AS user_name,
       current_schema()::text AS current_schema,
       to_char(pg_postmaster_start_time() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') AS started_at,
       NULL::integer AS cpu_count,
       current_setting('server_version_num')::integer AS version_number,
       CASE WHEN pg_is_in_recovery() THEN 'yes' ELSE 'no' END AS in_recovery,
       (SELECT CASE WHEN bool_and(has_function_privilege(p.oid, 'EXECUTE'::text)) THEN 'yes' ELSE 'no' END
          FROM pg_catalog.pg_proc p
          JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace AND n.nspname = 'pg_catalog'
         WHERE p.proname = 'pg_logical_emit_message') AS may_flush,
       (SELECT pg_catalog.array_to_string(s.enumvals, ',') FROM pg_catalog.pg_settings s
         WHERE s.name = 'default_toast_compression') AS toast_compressions,
       (SELECT string_agg(pg_catalog.concat_ws(' ', a.amname, CASE WHEN pg_indexam_has_property(a.oid, 'can_order') THEN 'order' END,
                                    CASE WHEN pg_indexam_has_property(a.oid, 'can_unique') THEN 'unique' END,
                                    CASE WHEN pg_indexam_has_property(a.oid, 'can_include') THEN 'include' END,
                                    CASE WHEN pg_indexam_has_property(a.oid, 'can_multi_col') THEN 'columns' END),
                          ',' ORDER BY a.amname)
          FROM pg_catalog.pg_am a WHERE a.amtype = 'i') AS index_methods;
