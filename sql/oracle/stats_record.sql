-- Title: what the published statistics of each table and its indexes are, partitions included, as one line each
-- Needs: SELECT on DBA_TAB_STATISTICS and DBA_IND_STATISTICS
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :table (exact case, null for all)
-- Versions: 11.2 to 26ai
-- Two lines are equal only when nothing was gathered, set, restored or deleted between them.
SELECT 'table' AS kind,
       s.table_name AS recorded_table,
       COUNT(*) AS objects,
       COUNT(s.last_analyzed) AS analyzed,
       TO_CHAR(MAX(s.last_analyzed), 'YYYY-MM-DD HH24:MI:SS') AS newest,
       SUM(ROUND((s.last_analyzed - DATE '2000-01-01') * 86400)) AS ages,
       SUM(s.num_rows) AS rows_told
  FROM dba_tab_statistics s
 WHERE s.owner = :schema
   AND (:table IS NULL OR s.table_name = :table)
   AND s.object_type <> 'FIXED TABLE'
 GROUP BY s.table_name
UNION ALL
SELECT 'indexes' AS kind,
       i.table_name AS recorded_table,
       COUNT(*) AS objects,
       COUNT(i.last_analyzed) AS analyzed,
       TO_CHAR(MAX(i.last_analyzed), 'YYYY-MM-DD HH24:MI:SS') AS newest,
       SUM(ROUND((i.last_analyzed - DATE '2000-01-01') * 86400)) AS ages,
       SUM(i.num_rows) AS rows_told
  FROM dba_ind_statistics i
 WHERE i.table_owner = :schema
   AND (:table IS NULL OR i.table_name = :table)
 GROUP BY i.table_name
 ORDER BY 2, 1;
