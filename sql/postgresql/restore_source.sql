-- Title: As whom a restored copy of this database is asked, and the encoding and locale of its text
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT r.rolname::text AS superuser, pg_catalog.pg_encoding_to_char(d.encoding)::text AS encoding,
       d.datcollate::text AS collate_name, d.datctype::text AS ctype_name,
       CASE own.datlocprovider WHEN 'i' THEN 'icu' WHEN 'b' THEN 'builtin' ELSE 'libc' END AS provider,
       coalesce(own.datlocale, own.daticulocale) AS locale_name
  FROM pg_catalog.pg_roles r, pg_catalog.pg_database d,
       pg_catalog.jsonb_to_record(pg_catalog.to_jsonb(d.*)) AS own(datlocprovider text, datlocale text, daticulocale text)
 WHERE r.oid = 10::oid AND d.datname = current_database();
