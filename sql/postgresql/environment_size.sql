-- Title: The part of the environment of a database that takes time: its size
-- Needs: CONNECT on the database
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
-- The server looks at each file of the database, also at those that a rebuild left until the next checkpoint.
SELECT 'size.database_bytes' AS name, pg_catalog.pg_database_size(pg_catalog.current_database())::text AS value,
       'B' AS unit, NULL AS default_value, NULL AS origin;
