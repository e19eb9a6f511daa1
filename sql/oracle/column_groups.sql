-- Title: extended statistics of a table, or of those of a schema
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case; null: every table of the schema)
-- Versions: 11.2 to 26ai
SELECT e.owner AS schema_name,
       e.table_name AS table_name,
       e.extension_name AS group_name,
       e.extension AS column_list,
       e.droppable AS droppable
  FROM all_stat_extensions e
 WHERE e.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND (:name IS NULL OR e.table_name = :name)
 ORDER BY e.table_name, e.extension_name;
