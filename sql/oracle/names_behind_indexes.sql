-- Title: What stands behind names of a plan: the functions that indexes call
-- Needs: nothing: ALL_ views show what the user may see
-- License: none
-- Effect: reads only
-- Params: :words, objects, each between bars (|APP.ORDERS|APP.TOTAL|)
-- Versions: 11.2 to 26ai
-- An index comes and goes with the work of every day: it is no part, only what it calls.
SELECT e.table_owner || '.' || e.table_name AS name,
       CAST(NULL AS VARCHAR2(30)) AS part,
       e.column_expression AS text,
       e.table_owner AS calls_in
  FROM all_ind_expressions e
 WHERE INSTR(:words, '|' || e.table_owner || '.' || e.table_name || '|') > 0;
