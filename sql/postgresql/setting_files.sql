-- Title: What ALTER SYSTEM has set, as it stands in postgresql.auto.conf
-- Needs: superuser, or SELECT on pg_file_settings and EXECUTE on pg_show_all_file_settings()
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT f.name AS name, f.setting AS value
  FROM pg_catalog.pg_file_settings f
 WHERE f.sourcefile LIKE '%/postgresql.auto.conf'
 ORDER BY f.seqno;
