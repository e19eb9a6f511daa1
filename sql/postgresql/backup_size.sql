-- Title: Bytes of all databases of the server
-- Needs: none (databases without CONNECT are left out)
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT sum(pg_catalog.pg_database_size(d.oid))::bigint AS byte_count FROM pg_catalog.pg_database d
 WHERE has_database_privilege(d.oid, 'CONNECT');
