-- Title: whether a name is taken in a schema whose objects ALL_OBJECTS does not show, and the clock, in one row
-- Needs: SELECT on SYS.DBA_OBJECTS
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case), :kind (TABLE or INDEX)
-- Versions: 11.2 to 26ai
SELECT MAX(TO_CHAR(o.object_id)) AS identity,
       ROUND((MAX(SYSDATE) - DATE '1970-01-01') * 86400) AS born
  FROM dual d
  LEFT JOIN dba_objects o
    ON o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.object_name = :name
   AND o.object_type = :kind;
