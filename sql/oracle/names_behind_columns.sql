-- Title: What stands behind names of a plan: defaults and the expressions of virtual columns
-- Needs: nothing: ALL_ views show what the user may see
-- License: none
-- Effect: reads only
-- Params: :words, objects, each between bars (|APP.ORDERS|APP.TOTAL|)
-- Versions: 11.2 to 26ai
-- A hidden virtual column belongs to an index or to statistics: it is no part, only what it calls.
-- Functions that an expression calls are looked up in the schema of its table (`calls_in`).
SELECT c.owner || '.' || c.table_name AS name,
       CASE WHEN c.hidden_column = 'NO' OR c.virtual_column = 'NO' THEN 'column ' || c.column_name END AS part,
       c.data_default AS text,
       c.owner AS calls_in
  FROM all_tab_cols c
 WHERE INSTR(:words, '|' || c.owner || '.' || c.table_name || '|') > 0
   AND c.default_length > 0;
