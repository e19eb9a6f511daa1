-- Title: identity of an object: OBJECT_ID and CREATED, and its comment
-- Needs: nothing; of another user's schema a row of `unseen` where it could be there without being shown
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case), :kind (TABLE or INDEX)
-- Versions: 11.2 to 26ai
-- ALL_OBJECTS shows objects of others by the privileges below and by grants on the object itself; CREATE, ALTER
-- and DROP ANY show nothing, a grant on a table does not show its indexes (text of the view).
SELECT TO_CHAR(o.object_id) || ' ' || TO_CHAR(o.created, 'YYYY-MM-DD HH24:MI:SS') AS identity,
       CASE o.object_type WHEN 'TABLE' THEN
         (SELECT c.comments
            FROM all_tab_comments c
           WHERE c.owner = o.owner AND c.table_name = o.object_name)
       END AS mark,
       ROUND((o.created - DATE '1970-01-01') * 86400) AS born,
       NULL AS unseen
  FROM all_objects o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.object_name = :name
   AND o.object_type = :kind
   AND o.subobject_name IS NULL
 UNION ALL
SELECT NULL AS identity,
       NULL AS mark,
       NULL AS born,
       'GRANT SELECT ON SYS.DBA_OBJECTS TO "' || SYS_CONTEXT('USERENV', 'SESSION_USER') || '"' AS unseen
  FROM dual d
 WHERE COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')) <> SYS_CONTEXT('USERENV', 'SESSION_USER')
   AND NOT EXISTS (SELECT 1
                     FROM session_privs p
                    WHERE p.privilege IN ('SELECT ANY TABLE', 'INSERT ANY TABLE', 'UPDATE ANY TABLE',
                                          'DELETE ANY TABLE', 'LOCK ANY TABLE'))
   AND NOT EXISTS (SELECT 1
                     FROM all_objects o
                    WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
                      AND o.object_name = :name
                      AND o.object_type = :kind);
