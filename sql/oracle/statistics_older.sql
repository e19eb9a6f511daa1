-- Title: tables of a schema (or one) whose statistics are older than so many seconds, or that have none
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :name (exact case; null: every table of the schema), :seconds
-- Versions: 11.2 to 26ai
-- LAST_ANALYZED is a DATE by the clock of the server, as SYSDATE is.
SELECT s.owner AS schema_name,
       s.table_name AS table_name
  FROM all_tab_statistics s
  JOIN all_tables t
    ON t.owner = s.owner AND t.table_name = s.table_name
 WHERE t.temporary = 'N'
   AND t.nested = 'NO'
   AND t.secondary = 'N'
   AND t.dropped = 'NO'
   AND NOT EXISTS (SELECT 1 FROM all_external_tables x WHERE x.owner = s.owner AND x.table_name = s.table_name)
   AND s.owner = :schema
   AND (:name IS NULL OR s.table_name = :name)
   AND s.object_type = 'TABLE'
   AND (s.last_analyzed IS NULL OR s.last_analyzed < SYSDATE - :seconds / 86400)
   AND s.stattype_locked IS NULL
 ORDER BY s.table_name;
