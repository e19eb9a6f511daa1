-- Title: statistics of the tables of a schema (or one): whether they are stale, and how old
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema (exact case), :name (exact case; null: every table of the schema)
-- Versions: 11.2 to 26ai
-- No age: there are none. LAST_ANALYZED is a DATE by the clock of the server, as SYSDATE is. The database counts
-- changes in memory and writes them down now and then, so what became stale just now may be missing.
SELECT s.table_name AS table_name,
       CASE WHEN s.stale_stats = 'YES' OR s.last_analyzed IS NULL THEN 'yes' ELSE 'no' END AS is_stale,
       ((SYSDATE - DATE '1970-01-01') - (s.last_analyzed - DATE '1970-01-01')) * 86400 AS age_seconds,
       CASE WHEN s.stattype_locked IS NULL THEN 'no' ELSE 'yes' END AS is_locked
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
 ORDER BY s.table_name;
