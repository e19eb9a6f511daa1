-- Title: how many tables of a schema (or one) have stale statistics, or none at all
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :name (exact case; null: every table of the schema)
-- Versions: 11.2 to 26ai
-- The database counts changes in memory and writes them down now and then, so the newest may be missing.
SELECT COUNT(*) AS table_count
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
   AND (s.stale_stats = 'YES' OR s.last_analyzed IS NULL);
