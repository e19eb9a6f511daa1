-- Title: the enabled triggers that a change of a table or view fires, and the tables that deleting its rows changes
-- Needs: nothing: ALL_ views show what the user may see
-- License: none
-- Effect: reads only
-- Params: :owner, :name (exact case)
-- Versions: 11.2 to 26ai
-- ALL_TRIGGERS shows the triggers of one's own tables, and all of them to who has CREATE ANY TRIGGER; NOT SHOWN says it.
SELECT t.owner AS owner,
       t.trigger_name AS name,
       'TRIGGER' AS kind
  FROM all_triggers t
 WHERE t.table_owner = :owner
   AND t.table_name = :name
   AND t.status = 'ENABLED'
 UNION ALL
SELECT CAST(NULL AS VARCHAR2(128)) AS owner,
       CAST(NULL AS VARCHAR2(128)) AS name,
       'NOT SHOWN' AS kind
  FROM dual d
 WHERE :owner <> SYS_CONTEXT('USERENV', 'SESSION_USER')
   AND NOT EXISTS (SELECT 1 FROM session_privs p WHERE p.privilege = 'CREATE ANY TRIGGER')
 UNION ALL
SELECT f.owner AS owner,
       f.table_name AS name,
       'CHILD' AS kind
  FROM all_constraints f
  JOIN all_constraints k
    ON k.owner = f.r_owner
   AND k.constraint_name = f.r_constraint_name
 WHERE k.owner = :owner
   AND k.table_name = :name
   AND f.constraint_type = 'R'
   AND f.status = 'ENABLED'
   AND f.delete_rule IN ('CASCADE', 'SET NULL');
