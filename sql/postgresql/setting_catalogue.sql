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
       array_to_string(s.enumvals, '|') AS choices,
       CASE WHEN s.name IN ('application_name', 'client_connection_check_interval', 'primary_conninfo',
                            'ssl_passphrase_command') THEN ''
            -- as one text ALTER SYSTEM would write a list of one name
            WHEN s.name IN ('search_path', 'temp_tablespaces', 'session_preload_libraries',
                            'local_preload_libraries') THEN 'session'
            WHEN s.name IN ('shared_preload_libraries', 'unix_socket_directories') THEN ''
            WHEN s.context IN ('user', 'superuser') THEN 'session system'
            WHEN s.context = 'sighup' THEN 'system'
            WHEN s.context = 'postmaster' THEN 'restart'
            ELSE ''
       END AS scopes,
       CASE WHEN s.name IN ('application_name', 'client_connection_check_interval')
                 THEN 'dbatk sets it itself, to find its sessions again'
            WHEN s.name IN ('primary_conninfo', 'ssl_passphrase_command') THEN 'it may hold a secret'
            WHEN s.name IN ('shared_preload_libraries', 'unix_socket_directories') THEN 'it is a list of names'
            WHEN s.context IN ('backend', 'superuser-backend') THEN 'it is set as a session begins'
            WHEN s.context = 'internal' THEN 'it is compiled in, or the server computes it'
       END AS fixed
  FROM pg_catalog.pg_settings s
 ORDER BY s.name;
