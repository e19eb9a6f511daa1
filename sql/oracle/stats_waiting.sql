-- Title: tables that have pending statistics, since when, and whether their statistics are locked
-- Needs: SELECT on DBA_TAB_PENDING_STATS and DBA_TAB_STATISTICS
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :table (exact case, null for all)
-- Versions: 11.2 to 26ai
SELECT p.owner AS schema_name,
       p.table_name AS stored_table,
       TO_CHAR(MAX(p.last_analyzed), 'YYYY-MM-DD HH24:MI:SS') AS stored_at,
       MAX(s.stattype_locked) AS locked
  FROM dba_tab_pending_stats p
  LEFT JOIN dba_tab_statistics s
    ON s.owner = p.owner
   AND s.table_name = p.table_name
   AND s.object_type = 'TABLE'
 WHERE p.owner = :schema
   AND (:table IS NULL OR p.table_name = :table)
 GROUP BY p.owner, p.table_name
 ORDER BY p.table_name;
