-- Title: the enabled triggers that a change of a table or view fires
-- Needs: nothing: ALL_ views show what the user may see
-- License: none
-- Effect: reads only
-- Params: :owner, :name (exact case)
-- Versions: 11.2 to 26ai
-- ALL_TRIGGERS shows the triggers of one's own tables, and all of them to who has CREATE ANY TRIGGER; `is_shown` says it.
SELECT t.owner AS owner,
       t.trigger_name AS name,
       1 AS is_shown
  FROM all_triggers t
 WHERE t.table_owner = :owner
   AND t.table_name = :name
   AND t.status = 'ENABLED'
 UNION ALL
SELECT CAST(NULL AS VARCHAR2(128)) AS owner,
       CAST(NULL AS VARCHAR2(128)) AS name,
       0 AS is_shown
  FROM dual d
 WHERE :owner <> SYS_CONTEXT('USERENV', 'SESSION_USER')
   AND NOT EXISTS (SELECT 1 FROM session_privs p WHERE p.privilege = 'CREATE ANY TRIGGER');
