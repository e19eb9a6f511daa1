-- Title: Settings that a running server or a session can be given
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT s.name
  FROM pg_catalog.pg_settings s
 WHERE s.context NOT IN ('internal', 'postmaster')
 ORDER BY s.name;
