-- Title: under which name an object is now, in a schema whose objects ALL_OBJECTS does not show
-- Needs: SELECT on SYS.DBA_OBJECTS
-- License: none
-- Effect: reads only
-- Params: :schema, :name (the former one, exact case), :kind (TABLE or INDEX), :identity (of identity.sql)
-- Versions: 11.2 to 26ai
SELECT o.object_name AS new_name
  FROM dba_objects o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.object_name <> :name
   AND o.object_type = :kind
   AND TO_CHAR(o.object_id) || ' ' || TO_CHAR(o.created, 'YYYY-MM-DD HH24:MI:SS') = :identity
   AND o.subobject_name IS NULL;
