-- Title: tables of a schema whose pending statistics a job gathered and did not publish
-- Needs: SELECT on DBA_TAB_PENDING_STATS
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :table (exact case, null for all), :since (date and time by the clock of the database)
-- Versions: 11.2 to 26ai
SELECT DISTINCT p.owner AS schema_name,
       p.table_name AS pending_table
  FROM dba_tab_pending_stats p
 WHERE p.owner = :schema
   AND (:table IS NULL OR p.table_name = :table)
   AND TO_CHAR(p.last_analyzed, 'YYYY-MM-DD HH24:MI:SS') >= :since
 ORDER BY p.table_name;
