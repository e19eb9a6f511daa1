-- Title: What a backup needs to know about the server: its files, their size, and the privilege to copy them
-- Needs: none (the place of the files needs pg_read_all_settings, the build options pg_read_all_settings or more)
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT (SELECT s.setting FROM pg_catalog.pg_settings s WHERE s.name = 'data_directory') AS data_directory,
       current_setting('port')::integer AS port,
       coalesce(host(inet_server_addr()), 'local socket') AS host,
       CASE WHEN r.rolreplication OR r.rolsuper THEN 'yes' ELSE 'no' END AS may_replicate,
       current_setting('max_wal_senders')::integer AS wal_senders,
       current_setting('wal_level') AS wal_level,
       current_setting('archive_mode') AS archive_mode,
       current_setting('checkpoint_timeout') AS checkpoint_timeout,
       CASE WHEN has_function_privilege('pg_catalog.pg_config()', 'EXECUTE')
            THEN (SELECT t.word FROM ts_stat('SELECT array_to_tsvector(ARRAY[c.setting])
                                                FROM pg_catalog.pg_config() c WHERE c.name = ''CONFIGURE''') t)
       END AS built_with,
       (SELECT sum(pg_catalog.pg_database_size(d.oid))::bigint FROM pg_catalog.pg_database d
         WHERE has_database_privilege(d.oid, 'CONNECT')) AS byte_count,
       pg_catalog.pg_database_size(current_database()) AS database_bytes
  FROM pg_catalog.pg_roles r WHERE r.rolname = current_user;
