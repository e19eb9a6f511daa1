-- Title: enabled triggers of a table
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT t.trigger_name AS trigger_name,
       t.triggering_event AS triggering_event
  FROM all_triggers t
 WHERE t.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND t.table_name = :name
   AND t.status = 'ENABLED'
 ORDER BY t.trigger_name;
