-- Title: columns GENERATED ALWAYS AS IDENTITY, which take no value of an INSERT
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 12.1 to 26ai
SELECT i.column_name AS column_name
  FROM all_tab_identity_cols i
 WHERE i.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND i.table_name = :name
   AND i.generation_type = 'ALWAYS';
