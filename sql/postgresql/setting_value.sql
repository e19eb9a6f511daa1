-- Title: The present value of a setting in this session, in the unit of the catalogue
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :name
-- Versions: PostgreSQL 14 and later
SELECT s.setting AS value
  FROM pg_catalog.pg_settings s
 WHERE s.name = :name;
