-- Title: What stands behind names of a plan: the queries of materialized views
-- Needs: nothing: ALL_ views show what the user may see
-- License: none
-- Effect: reads only
-- Params: :words, objects, each between bars (|APP.ORDERS|APP.TOTAL|)
-- Versions: 11.2 to 26ai
SELECT m.owner || '.' || m.mview_name AS name,
       'query' AS part,
       m.query AS text
  FROM all_mviews m
 WHERE INSTR(:words, '|' || m.owner || '.' || m.mview_name || '|') > 0;
