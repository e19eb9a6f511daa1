-- Title: tables whose statistics were replaced, when last, and whether they are locked
-- Needs: SELECT on DBA_TAB_STATS_HISTORY and DBA_TAB_STATISTICS
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :table (exact case, null for all)
-- Versions: 11.2 to 26ai
-- Times are texts in UTC: a TIMESTAMP WITH TIME ZONE that goes through a client comes back as another one.
SELECT h.owner AS schema_name,
       h.table_name AS stored_table,
       TO_CHAR(MAX(SYS_EXTRACT_UTC(h.stats_update_time)), 'YYYY-MM-DD HH24:MI:SS') AS stored_at,
       MAX(s.stattype_locked) AS locked
  FROM dba_tab_stats_history h
  LEFT JOIN dba_tab_statistics s
    ON s.owner = h.owner
   AND s.table_name = h.table_name
   AND s.object_type = 'TABLE'
 WHERE h.owner = :schema
   AND (:table IS NULL OR h.table_name = :table)
 GROUP BY h.owner, h.table_name
 ORDER BY h.table_name;
