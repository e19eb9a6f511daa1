-- Title: Owners and schemas with tables that this user may not analyze
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
-- ANALYZE is for the owner of the table or of the database, and from 17 on for MAINTAIN; it skips all others' tables.
WITH tables AS (
  SELECT n.nspname, o.rolname, o.rolsuper
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_roles o ON o.oid = c.relowner
   WHERE c.relkind IN ('r', 'm', 'p') AND c.relpersistence <> 't'
     AND n.nspname::text !~ '^pg_' AND n.nspname <> 'information_schema'
     AND has_schema_privilege(n.oid, 'USAGE')
     AND NOT pg_has_role(c.relowner, 'USAGE')
     AND NOT EXISTS (SELECT FROM pg_catalog.pg_database d
                      WHERE d.datname = current_database() AND pg_has_role(d.datdba, 'USAGE'))
     AND NOT CASE WHEN current_setting('server_version_num')::integer >= 170000
                  THEN has_table_privilege(c.oid, 'MAINTAIN') ELSE false END
)
SELECT nspname::text AS schema_name, rolname::text AS owner_name, count(*) AS table_count,
       CASE WHEN current_setting('server_version_num')::integer >= 170000
            THEN pg_catalog.format('GRANT MAINTAIN ON ALL TABLES IN SCHEMA "%s" TO "%s"',
                        pg_catalog.replace(nspname, '"', '""'), pg_catalog.replace(current_user, '"', '""'))
            WHEN NOT rolsuper
            THEN pg_catalog.format('GRANT "%s" TO "%s"', pg_catalog.replace(rolname, '"', '""'), pg_catalog.replace(current_user, '"', '""'))
       END AS grant_text
  FROM tables
 GROUP BY nspname, rolname, rolsuper
 ORDER BY nspname, rolname;
