-- Title: columns that SELECT * leaves out: invisible ones
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 12.1 to 26ai
SELECT c.column_name AS column_name,
       c.data_type AS data_type
  FROM all_tab_cols c
 WHERE c.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND c.table_name = :name
   AND c.hidden_column = 'YES'
   AND c.virtual_column = 'NO'
   AND c.user_generated = 'YES'
 ORDER BY c.internal_column_id;
