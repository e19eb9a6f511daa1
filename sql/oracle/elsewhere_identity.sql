-- Title: which object this is, in a schema whose objects ALL_OBJECTS does not show
-- Needs: SELECT on SYS.DBA_OBJECTS
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case), :kind (TABLE or INDEX)
-- Versions: 11.2 to 26ai
SELECT TO_CHAR(o.object_id) || ' ' || TO_CHAR(o.created, 'YYYY-MM-DD HH24:MI:SS') AS identity,
       NULL AS mark,
       ROUND((o.created - DATE '1970-01-01') * 86400) AS born
  FROM dba_objects o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.object_name = :name
   AND o.object_type = :kind
   AND o.subobject_name IS NULL;
