-- Title: types of a table's columns with their sizes
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT c.column_name AS column_name,
       c.data_type AS data_type,
       c.data_length AS byte_length,
       c.char_length AS char_length,
       c.char_used AS char_used,
       c.data_precision AS number_precision,
       c.data_scale AS number_scale
  FROM all_tab_cols c
 WHERE c.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND c.table_name = :name
   AND c.hidden_column = 'NO'
   AND c.virtual_column = 'NO'
 ORDER BY c.column_id;
