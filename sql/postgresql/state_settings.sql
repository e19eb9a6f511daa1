-- Title: Settings of the server and of this session, except those that dbatk sets itself
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT s.name AS name,
       s.setting || COALESCE(' ' || s.unit, '') AS value,
       s.source AS source
  FROM pg_catalog.pg_settings s
 WHERE s.name NOT IN ('application_name', 'client_connection_check_interval')
 ORDER BY s.name;
