-- Title: What stands behind names of a plan: how external tables are read
-- Needs: nothing: ALL_ views show what the user may see
-- License: none
-- Effect: reads only
-- Params: :words, objects, each between bars (|APP.ORDERS|APP.TOTAL|)
-- Versions: 11.2 to 26ai
SELECT e.owner || '.' || e.table_name AS name,
       'access ' || e.type_name || ' ' || e.default_directory_name AS part,
       e.access_parameters AS text
  FROM all_external_tables e
 WHERE INSTR(:words, '|' || e.owner || '.' || e.table_name || '|') > 0;
