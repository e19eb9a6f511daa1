-- Title: All settings: unit, range, and for whom each may be set
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT s.name AS name,
       s.setting AS value,
       CASE s.vartype WHEN 'bool' THEN 'boolean' WHEN 'enum' THEN 'choice' WHEN 'string' THEN 'text'
            ELSE s.vartype END AS kind,
       s.unit AS unit,
       s.min_val AS low,
       s.max_val AS high,
       pg_catalog.array_to_string(s.enumvals, '|') AS choices,
       CASE WHEN s.name IN ('application_name', 'client_connection_check_interval', 'primary_conninfo',
                            'ssl_passphrase_command') THEN ''
            WHEN naming.why IS NOT NULL THEN ''
            -- as one text ALTER SYSTEM would write a list of one name
            WHEN s.name = 'temp_tablespaces' THEN 'session'
            WHEN s.name IN ('shared_preload_libraries', 'unix_socket_directories') THEN ''
            WHEN s.context IN ('user', 'superuser') THEN 'session system'
            WHEN s.context = 'sighup' THEN 'system'
            WHEN s.context = 'postmaster' THEN 'restart'
            ELSE ''
       END AS scopes,
       CASE WHEN naming.why IS NOT NULL THEN naming.why
            WHEN s.name IN ('application_name', 'client_connection_check_interval')
                 THEN 'dbatk sets it itself, to find its sessions again'
            WHEN s.name IN ('primary_conninfo', 'ssl_passphrase_command') THEN 'it may hold a secret'
            WHEN s.name IN ('shared_preload_libraries', 'unix_socket_directories') THEN 'it is a list of names'
            WHEN s.context IN ('backend', 'superuser-backend') THEN 'it is set as a session begins'
            WHEN s.context = 'internal' THEN 'it is compiled in, or the server computes it'
       END AS fixed
  FROM pg_catalog.pg_settings s,
       LATERAL (SELECT CASE
           -- what was looked at, and approved, would be something else than what is worked on
           WHEN s.name IN ('search_path', 'role', 'session_authorization', 'default_text_search_config',
                           'standard_conforming_strings', 'plpgsql.variable_conflict')
                THEN 'it decides what names mean'
           WHEN s.name IN ('session_preload_libraries', 'local_preload_libraries', 'dynamic_library_path',
                           'extension_control_path') THEN 'it decides which code is loaded'
           -- dbatk would look for a server where it is no more
           WHEN s.name IN ('port', 'listen_addresses', 'unix_socket_group', 'unix_socket_permissions', 'hba_file',
                           'ident_file', 'external_pid_file', 'allow_alter_system', 'db_user_namespace')
                OR s.name ~ '^(ssl|krb|bonjour)' THEN 'it decides how the server is reached'
           END AS why) naming
 ORDER BY s.name;
