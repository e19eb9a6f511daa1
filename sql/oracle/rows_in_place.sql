-- Title: whether rows of a table may get another address
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT t.row_movement AS row_movement
  FROM all_tables t
 WHERE t.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND t.table_name = :name;
