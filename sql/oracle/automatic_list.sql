-- Title: whether list partitions of a table are made as values come
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 12.2 to 26ai
SELECT p.autolist AS autolist
  FROM all_part_tables p
 WHERE p.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.table_name = :name;
