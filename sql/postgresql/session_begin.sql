-- Title: Settings of a session of dbatk: timeouts where nothing set any (a minute for locks), how names resolve, and where it is
-- Needs: none
-- License: none
-- Effect: changes settings of this session
-- Params: :read_only (on or off), :search_path, :default_tablespace, :temp_tablespaces and :default_table_access_method (those of the first session, none in it), :options (what the client gave with the connection)
-- Versions: PostgreSQL 14 and later
SELECT s.name, set_config(s.name, coalesce(w.value, s.setting), false) AS value, current_user::text AS user_name,
       set_config('dbatk.options', coalesce(:options, ''), false) AS options,
       (SELECT d.oid::text FROM pg_catalog.pg_database d WHERE d.datname = current_database()) || '@'
       || CASE WHEN has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')
               -- ts_stat runs its query only when it is called, so that a missing grant is no error
               THEN (SELECT t.word FROM pg_catalog.ts_stat('SELECT array_to_tsvector(ARRAY[system_identifier::text])
                                                              FROM pg_catalog.pg_control_system()') t)
               ELSE 'unknown' END AS database_id,
       pg_catalog.concat_ws(', ', coalesce(host(inet_server_addr()), 'local socket'), 'port ' || current_setting('port'),
                 (SELECT d.setting FROM pg_catalog.pg_settings d WHERE d.name = 'data_directory')) AS place
  FROM (VALUES ('lock_timeout', '60s', 'unset'), ('statement_timeout', '0', 'unset'), ('transaction_timeout', '0', 'unset'),
               ('idle_in_transaction_session_timeout', '0', 'unset'), ('idle_session_timeout', '0', 'unset'),
               ('default_transaction_read_only', :read_only, 'unset'),
               ('search_path', :search_path, 'kept'), ('default_tablespace', :default_tablespace, 'kept'),
               ('temp_tablespaces', :temp_tablespaces, 'kept'),
               ('default_table_access_method', :default_table_access_method, 'kept')) AS w(name, value, which)
  JOIN pg_catalog.pg_settings s ON s.name = w.name
 WHERE w.which = 'kept' OR w.value = 'on'
    OR s.source IN ('default', 'configuration file', 'environment variable', 'command line');
