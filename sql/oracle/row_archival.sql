-- Title: whether rows of a table can be archived and so be hidden from a session
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 12.1 to 26ai
SELECT c.column_name AS archive_column
  FROM all_tab_cols c
 WHERE c.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND c.table_name = :name
   AND c.column_name = 'ORA_ARCHIVE_STATE'
   AND c.hidden_column = 'YES';
