-- Title: when the statistics of each table of a schema were gathered, and whether they are locked
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :table (exact case, null for all)
-- Versions: 11.2 to 26ai
SELECT s.table_name AS analyzed_table,
       TO_CHAR(s.last_analyzed, 'YYYY-MM-DD HH24:MI:SS') AS last_analyzed,
       s.stattype_locked AS locked,
       s.stale_stats AS stale,
       t.temporary AS temporary
  FROM all_tab_statistics s
  JOIN all_tables t
    ON t.owner = s.owner AND t.table_name = s.table_name
 WHERE s.owner = :schema
   AND (:table IS NULL OR s.table_name = :table)
   AND s.object_type = 'TABLE'
   AND t.dropped = 'NO'
 ORDER BY s.table_name;
