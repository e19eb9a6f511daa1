-- Title: What stands behind names of a plan: the queries of views
-- Needs: nothing: ALL_ views show what the user may see
-- License: none
-- Effect: reads only
-- Params: :words, objects, each between bars (|APP.ORDERS|APP.TOTAL|)
-- Versions: 11.2 to 26ai
SELECT v.owner || '.' || v.view_name AS name,
       'query' AS part,
       v.text AS text
  FROM all_views v
 WHERE INSTR(:words, '|' || v.owner || '.' || v.view_name || '|') > 0;
