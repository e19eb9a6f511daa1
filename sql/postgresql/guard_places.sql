-- Title: folders of tables, sorts and the write-ahead log
-- Needs: pg_read_all_settings (for data_directory)
-- License: none
-- Effect: reads only
-- Params: :schemas, :tablespaces (names, each between bars)
-- Versions: PostgreSQL 14 and later
-- The database's own tablespace, the default one, those of the schemas' relations and those that are named; sorts go
-- to temp_tablespaces, or to the default one. Their free space is read on the host.
WITH own AS (
    SELECT t.spcname::text AS place,
           coalesce(nullif(pg_tablespace_location(t.oid), ''), current_setting('data_directory')) AS path,
           t.oid = d.dattablespace AS is_default
      FROM pg_catalog.pg_tablespace t
      JOIN pg_catalog.pg_database d ON d.datname = current_database()
     WHERE t.spcname <> 'pg_global'
), used AS (
    SELECT DISTINCT t.spcname::text AS place
      FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_catalog.pg_tablespace t ON t.oid = c.reltablespace
     WHERE strpos(:schemas::text, '|' || n.nspname::text || '|') > 0
), temporary AS (
    SELECT btrim(each, ' "') AS place
      FROM regexp_split_to_table(coalesce(nullif(current_setting('temp_tablespaces'), ''),
                                          current_setting('default_tablespace')), ',') AS each
     WHERE btrim(each, ' "') <> ''
)
SELECT 'tablespace' AS place_kind, o.place, o.path
  FROM own o
 WHERE o.is_default OR o.place = current_setting('default_tablespace')
    OR o.place IN (SELECT u.place FROM used u) OR strpos(:tablespaces::text, '|' || o.place || '|') > 0
 UNION ALL
SELECT 'temp', o.place, o.path
  FROM own o
 WHERE o.place IN (SELECT t.place FROM temporary t) OR (o.is_default AND NOT EXISTS (SELECT FROM temporary))
 UNION ALL
SELECT 'recovery_area', 'pg_wal', current_setting('data_directory') || '/pg_wal';
