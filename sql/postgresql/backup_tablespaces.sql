-- Title: Tablespaces outside the data directory
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT t.oid::bigint AS number, t.spcname::text AS tablespace_name, pg_catalog.pg_tablespace_location(t.oid) AS place
  FROM pg_catalog.pg_tablespace t WHERE pg_catalog.pg_tablespace_location(t.oid) <> ''
 ORDER BY 1;
