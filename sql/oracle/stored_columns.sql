-- Title: Columns of a table in the order in which its rows hold them, with their types
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
-- Hidden and unused columns are stored, too; virtual ones are not.
SELECT c.column_name AS stored_column,
       c.data_type AS data_type,
       c.data_length AS data_length,
       c.data_precision AS data_precision,
       c.data_scale AS data_scale,
       c.nullable AS nullable,
       c.hidden_column AS hidden
  FROM all_tab_cols c
 WHERE c.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND c.table_name = :name
   AND c.virtual_column = 'NO'
 ORDER BY c.internal_column_id;
