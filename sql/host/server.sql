-- Title: What this host is
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: SQLite
SELECT host_name() AS database_name, host_name() AS database_id, host_release() AS version_text, host_cpus() AS cpu_list;
