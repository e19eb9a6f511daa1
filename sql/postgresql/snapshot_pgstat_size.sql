-- Title: Size of this database
-- Needs: CONNECT on the database
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
-- Apart from the counters, since the server looks at each file of the database: around a trial it is read once, after.
SELECT 'database_bytes' AS metric_name, pg_database_size(d.oid)::float8 AS metric_value, 'bytes' AS metric_unit,
       'gauge' AS metric_kind
  FROM pg_catalog.pg_database d
 WHERE d.datname = current_database();
