-- Title: whether a name is taken, and the database's clock, in one row
-- Needs: nothing: ALL_OBJECTS shows the session's user what he may see
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case), :kind (TABLE or INDEX)
-- Versions: 11.2 to 26ai
SELECT MAX(TO_CHAR(o.object_id)) AS identity,
       ROUND((MAX(SYSDATE) - DATE '1970-01-01') * 86400) AS born
  FROM dual d
  LEFT JOIN all_objects o
    ON o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.object_name = :name
   AND o.object_type = :kind;
