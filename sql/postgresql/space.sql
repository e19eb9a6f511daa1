-- Title: tablespaces with their folders, and where objects and sorts go by default
-- Needs: pg_read_all_settings (for the data directory)
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
-- PostgreSQL does not show free disk space through SQL: that of the folders is asked of the host. Null where the data
-- directory is not shown.
SELECT t.spcname::text AS place,
       coalesce(nullif(pg_tablespace_location(t.oid), ''),
                (SELECT s.setting FROM pg_catalog.pg_settings s WHERE s.name = 'data_directory')) AS path,
       CASE WHEN t.oid = d.dattablespace THEN 'yes' ELSE 'no' END AS is_own,
       CASE WHEN t.spcname = current_setting('default_tablespace') THEN 'yes' ELSE 'no' END AS is_default,
       current_setting('temp_tablespaces') AS temporary_places
  FROM pg_catalog.pg_tablespace t
  JOIN pg_catalog.pg_database d ON d.datname = current_database()
 WHERE t.spcname <> 'pg_global'
 ORDER BY is_own DESC, t.spcname;
