-- Title: all parameters: kind, and for whom each may be set
-- Needs: SELECT on SYS.V_$PARAMETER
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT p.name AS name,
       p.value AS value,
       -- big integers are sizes in bytes, and so is what is called one
       CASE p.type WHEN 1 THEN 'boolean' WHEN 3 THEN 'integer' WHEN 6 THEN 'integer' ELSE 'text' END AS kind,
       CASE WHEN p.type = 6 OR (p.type = 3 AND p.name LIKE '%_size') THEN 'B' END AS unit,
       NULL AS low,
       NULL AS high,
       NULL AS choices,
       CASE WHEN p.name IN ('compatible', 'max_string_size', 'local_listener', 'remote_listener',
                            'listener_networks', 'service_names', 'dispatchers', 'db_name', 'db_unique_name',
                            'db_domain', 'instance_name', 'remote_login_passwordfile', 'os_authent_prefix',
                            'control_files', 'spfile', 'ifile') THEN NULL
            WHEN p.isses_modifiable = 'TRUE' AND p.issys_modifiable = 'IMMEDIATE' THEN 'session system'
            WHEN p.isses_modifiable = 'TRUE' THEN 'session'
            WHEN p.issys_modifiable = 'IMMEDIATE' THEN 'system'
            WHEN p.issys_modifiable = 'FALSE' THEN 'restart'
       END AS scopes,
       CASE WHEN p.name IN ('compatible', 'max_string_size') THEN 'once it is raised, nothing puts it back'
            WHEN p.name IN ('control_files', 'spfile', 'ifile') THEN 'it decides which files the database has'
            WHEN p.name IN ('local_listener', 'remote_listener', 'listener_networks', 'service_names', 'dispatchers',
                            'db_name', 'db_unique_name', 'db_domain', 'instance_name', 'remote_login_passwordfile',
                            'os_authent_prefix') THEN 'it decides how the database is reached'
            WHEN p.isses_modifiable = 'FALSE' AND p.issys_modifiable = 'DEFERRED'
            THEN 'only sessions that begin later would have it' END AS fixed
  FROM v$parameter p
 ORDER BY p.name;
