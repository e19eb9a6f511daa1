-- Title: columns of a table whose values the server makes, or which SELECT * leaves out
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 12.1 to 26ai
SELECT c.column_name AS column_name,
       CASE WHEN c.identity_column = 'YES' THEN 'identity'
            WHEN c.default_on_null = 'YES' THEN 'default on null'
            ELSE 'invisible' END AS of_kind
  FROM all_tab_cols c
 WHERE c.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND c.table_name = :name
   AND c.virtual_column = 'NO'
   AND (c.identity_column = 'YES'
        OR c.default_on_null = 'YES'
        OR (c.hidden_column = 'YES' AND c.user_generated = 'YES')
        OR c.column_name = 'ORA_ARCHIVE_STATE')
 ORDER BY c.internal_column_id;
