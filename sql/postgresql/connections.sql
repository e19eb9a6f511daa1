-- Title: How many connections are free for this user
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
-- Sessions of other users are counted, too: everybody may see that they are there. reserved_connections is new in 16.
SELECT current_setting('max_connections')::integer AS most_count,
       current_setting('max_connections')::integer
       - CASE WHEN (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname = current_user) THEN 0
              ELSE current_setting('superuser_reserved_connections')::integer
                   + coalesce(current_setting('reserved_connections', true), '0')::integer END
       - (SELECT count(*) FROM pg_catalog.pg_stat_activity a WHERE a.backend_type = 'client backend') + 1 AS free_count;
