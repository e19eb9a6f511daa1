-- Title: tables of a schema that have pending statistics, and since when
-- Needs: SELECT on DBA_TAB_PENDING_STATS
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :table (exact case, null for all)
-- Versions: 11.2 to 26ai
SELECT p.owner AS schema_name,
       p.table_name AS pending_table,
       COUNT(*) AS objects,
       TO_CHAR(MIN(p.last_analyzed), 'YYYY-MM-DD HH24:MI:SS') AS oldest,
       TO_CHAR(MAX(p.last_analyzed), 'YYYY-MM-DD HH24:MI:SS') AS newest
  FROM dba_tab_pending_stats p
 WHERE p.owner = :schema
   AND (:table IS NULL OR p.table_name = :table)
 GROUP BY p.owner, p.table_name
 ORDER BY p.table_name;
