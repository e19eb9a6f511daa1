-- Title: virtual columns of a table: readable like others, never filled
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT c.column_name AS column_name,
       c.data_type AS data_type,
       c.data_default AS expression
  FROM all_tab_cols c
 WHERE c.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND c.table_name = :name
   AND c.hidden_column = 'NO'
   AND c.virtual_column = 'YES'
 ORDER BY c.column_id;
