-- Title: Where new objects of a schema go; PostgreSQL does not show free disk space through SQL
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema (any text; a schema has no tablespace of its own)
-- Versions: PostgreSQL 14 and later
SELECT coalesce(nullif(current_setting('default_tablespace'), ''), t.spcname::text) AS place,
       NULL::bigint AS free_byte_count,
       pg_database_size(d.oid) AS database_byte_count
  FROM pg_catalog.pg_database d
  JOIN pg_catalog.pg_tablespace t ON t.oid = d.dattablespace
 WHERE d.datname = current_database() AND (:schema::text IS NULL OR true);
