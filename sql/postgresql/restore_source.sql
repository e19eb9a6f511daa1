-- Title: As whom a restored copy of this database is asked, and the encoding and locale of its text
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT r.rolname::text AS superuser, pg_catalog.pg_encoding_to_char(d.encoding)::text AS encoding,
       d.datcollate::text AS collate_name, d.datctype::text AS ctype_name,
       CASE to_jsonb(d) ->> 'datlocprovider' WHEN 'i' THEN 'icu' WHEN 'b' THEN 'builtin' ELSE 'libc' END AS provider,
       coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale') AS locale_name
  FROM pg_catalog.pg_roles r, pg_catalog.pg_database d WHERE r.oid = 10 AND d.datname = current_database();
