-- Title: which object this is: OBJECT_ID and CREATED, its comment, and when it was made
-- Needs: to see the object (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case), :kind (TABLE or INDEX)
-- Versions: 11.2 to 26ai
SELECT TO_CHAR(o.object_id) || ' ' || TO_CHAR(o.created, 'YYYY-MM-DD HH24:MI:SS') AS identity,
       CASE o.object_type WHEN 'TABLE' THEN
         (SELECT c.comments
            FROM all_tab_comments c
           WHERE c.owner = o.owner AND c.table_name = o.object_name)
       END AS mark,
       ROUND((o.created - DATE '1970-01-01') * 86400) AS born
  FROM all_objects o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.object_name = :name
   AND o.object_type = :kind
   AND o.subobject_name IS NULL;
