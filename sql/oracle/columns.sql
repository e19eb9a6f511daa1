-- Title: columns an INSERT may name, in order
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
-- Virtual and hidden columns take no values; invisible columns are hidden ones and are left out, as by SELECT *.
SELECT c.column_name AS column_name,
       c.data_type AS data_type,
       CASE c.nullable WHEN 'Y' THEN 'yes' ELSE 'no' END AS nullable,
       c.column_id AS position,
       c.avg_col_len AS average_length,
       (SELECT e.encryption_alg
          FROM all_encrypted_columns e
         WHERE e.owner = c.owner AND e.table_name = c.table_name AND e.column_name = c.column_name) AS encrypted_by,
       CASE WHEN c.default_length > 0 THEN 'YES' END AS has_default,
       -- a virtual column that is not hidden, or a stored one that is (invisible, or made by the server)
       CASE WHEN EXISTS (SELECT 1
                           FROM all_tab_cols u
                          WHERE u.owner = c.owner
                            AND u.table_name = c.table_name
                            AND u.hidden_column <> u.virtual_column) THEN 'YES' END AS has_unlisted
  FROM all_tab_cols c
 WHERE c.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND c.table_name = :name
   AND c.hidden_column = 'NO'
   AND c.virtual_column = 'NO'
 ORDER BY c.column_id;
