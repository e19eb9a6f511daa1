-- Title: keys of indexes, expressions included
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name of an index or of a table (exact case); without a name all of the schema
-- Versions: 11.2 to 26ai
-- COLUMN_EXPRESSION is a LONG: it can be fetched, and nothing else. A descending column is an expression too.
SELECT c.index_owner AS of_schema,
       c.index_name AS of_index,
       c.column_position AS position,
       c.column_name AS column_name,
       c.descend AS descend,
       e.column_expression AS expression
  FROM all_indexes i
  JOIN all_ind_columns c
    ON c.index_owner = i.owner AND c.index_name = i.index_name
  LEFT JOIN all_ind_expressions e
    ON e.index_owner = c.index_owner AND e.index_name = c.index_name AND e.column_position = c.column_position
 WHERE (i.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
        AND (:name IS NULL OR i.index_name = :name)
        OR i.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
        AND i.table_name = :name)
   AND i.dropped = 'NO'
 ORDER BY c.index_owner, c.index_name, c.column_position;
