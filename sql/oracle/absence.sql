-- Title: whether a name is in use, and the database time, in one row
-- Needs: nothing; `unseen` says where the name could be taken by an object that is not shown (see identity.sql)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case), :kind (TABLE or INDEX)
-- Versions: 11.2 to 26ai
SELECT x.identity AS identity,
       x.born AS born,
       CASE WHEN x.identity IS NULL
             AND EXISTS (SELECT 1
                           FROM dual d
                          WHERE COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')) <> SYS_CONTEXT('USERENV', 'SESSION_USER')
                          AND NOT EXISTS (SELECT 1
                                            FROM session_privs p
                                           WHERE p.privilege IN ('SELECT ANY TABLE', 'INSERT ANY TABLE', 'UPDATE ANY TABLE',
                                                                 'DELETE ANY TABLE', 'LOCK ANY TABLE')))
       THEN 'GRANT SELECT ON SYS.DBA_OBJECTS TO "' || SYS_CONTEXT('USERENV', 'SESSION_USER') || '"'
       END AS unseen
  FROM (SELECT MAX(TO_CHAR(o.object_id)) AS identity,
               ROUND((MAX(SYSDATE) - DATE '1970-01-01') * 86400) AS born
          FROM dual d
          LEFT JOIN all_objects o
            ON o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
           AND o.object_name = :name
           AND o.object_type = :kind) x;
