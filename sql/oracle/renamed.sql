-- Title: under which name an object is now that somebody renamed
-- Needs: nothing; of another user's schema a row of `unseen` where it could be there without being shown
-- License: none
-- Effect: reads only
-- Params: :schema, :name (the former one, exact case), :kind (TABLE or INDEX), :identity (of identity.sql)
-- Versions: 11.2 to 26ai
SELECT o.object_name AS new_name,
       NULL AS unseen
  FROM all_objects o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.object_name <> :name
   AND o.object_type = :kind
   AND TO_CHAR(o.object_id) || ' ' || TO_CHAR(o.created, 'YYYY-MM-DD HH24:MI:SS') = :identity
   AND o.subobject_name IS NULL
 UNION ALL
SELECT NULL AS new_name,
       'GRANT SELECT ON SYS.DBA_OBJECTS TO "' || SYS_CONTEXT('USERENV', 'SESSION_USER') || '"' AS unseen
  FROM dual d
 WHERE COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')) <> SYS_CONTEXT('USERENV', 'SESSION_USER')
   AND NOT EXISTS (SELECT 1
                     FROM session_privs p
                    WHERE p.privilege IN ('SELECT ANY TABLE', 'INSERT ANY TABLE', 'UPDATE ANY TABLE',
                                          'DELETE ANY TABLE', 'LOCK ANY TABLE'));
