-- Title: LOB columns of a table, where their segments are and how large
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case; without a name all of the schema)
-- Versions: 11.2 to 26ai
-- LOBs of object types, XML and hidden columns are not listed. The size is that of the user's own segments.
SELECT l.owner AS of_schema,
       l.table_name AS of_table,
       l.column_name AS lob_column,
       l.tablespace_name AS lob_place,
       l.securefile AS securefile,
       (SELECT SUM(g.bytes)
          FROM user_segments g
         WHERE g.segment_name = l.segment_name
           AND l.owner = SYS_CONTEXT('USERENV', 'SESSION_USER')) AS byte_count
  FROM all_lobs l
  JOIN all_tab_cols c
    ON c.owner = l.owner AND c.table_name = l.table_name AND c.column_name = l.column_name
 WHERE l.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND (:name IS NULL OR l.table_name = :name)
   AND c.hidden_column = 'NO'
   AND c.data_type IN ('CLOB', 'BLOB', 'NCLOB')
 ORDER BY c.internal_column_id;
