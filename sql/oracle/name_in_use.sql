-- Title: objects that already have a given name
-- Needs: to see the object (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT DISTINCT o.owner AS schema_name,
       o.object_name AS object_name,
       LOWER(o.object_type) AS object_kind
  FROM all_objects o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.object_name = :name;
