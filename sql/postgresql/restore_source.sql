-- Title: As whom a restored copy of this cluster is asked
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT r.rolname::text AS superuser FROM pg_catalog.pg_roles r WHERE r.oid = 10;
