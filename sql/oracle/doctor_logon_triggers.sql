-- Title: triggers that fire when this session begins
-- Needs: SELECT on SYS.DBA_TRIGGERS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT t.owner AS owner_name,
       t.trigger_name AS trigger_name
  FROM dba_triggers t
 WHERE t.status = 'ENABLED'
   AND t.triggering_event LIKE '%LOGON%'
   AND (t.base_object_type LIKE 'DATABASE%' OR t.owner = SYS_CONTEXT('USERENV', 'SESSION_USER'));
