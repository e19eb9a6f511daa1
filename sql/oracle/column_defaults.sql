-- Title: defaults of the columns of a table
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT c.column_name AS column_name,
       c.data_default AS default_text
  FROM all_tab_cols c
 WHERE c.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND c.table_name = :name
   AND c.hidden_column = 'NO'
   AND c.virtual_column = 'NO'
   AND c.default_length > 0
 ORDER BY c.column_id;
