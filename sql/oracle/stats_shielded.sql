-- Title: tables of a schema whose statistics a gathering would replace, with the stored preference PUBLISH
-- Needs: SELECT on DBA_TABLES and DBA_TAB_STAT_PREFS
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :table (exact case, null for all)
-- Versions: 11.2 to 26ai
SELECT t.table_name AS shielded_table,
       p.preference_value AS publish
  FROM dba_tables t
  LEFT JOIN dba_tab_stat_prefs p
    ON p.owner = t.owner AND p.table_name = t.table_name AND p.preference_name = 'PUBLISH'
 WHERE t.owner = :schema
   AND (:table IS NULL OR t.table_name = :table)
   AND t.dropped = 'NO'
   AND t.temporary = 'N'
   AND (t.iot_type IS NULL OR t.iot_type = 'IOT')
 ORDER BY t.table_name;
