-- Title: indexes of a schema that a rebuild in one statement can take
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema (exact case)
-- Versions: 11.2 to 26ai
-- The key is spelled for plain B-tree indexes only; an expression is a LONG in the dictionary and cannot be joined.
SELECT i.owner AS schema_name,
       i.index_name AS index_name,
       i.table_owner AS table_schema,
       i.table_name AS table_name,
       CASE i.uniqueness WHEN 'UNIQUE' THEN 'yes' ELSE 'no' END AS is_unique,
       CASE i.status WHEN 'UNUSABLE' THEN 'no' ELSE 'yes' END AS is_valid,
       COALESCE(
         (SELECT SUM(g.bytes)
            FROM user_segments g
           WHERE g.segment_name = i.index_name
             AND i.owner = SYS_CONTEXT('USERENV', 'SESSION_USER')),
         st.leaf_blocks * ts.block_size) AS byte_count,
       CASE WHEN i.index_type IN ('NORMAL', 'NORMAL/REV') THEN
         (SELECT '(' || LISTAGG('"' || c.column_name || '"', ', ') WITHIN GROUP (ORDER BY c.column_position) || ')'
            FROM all_ind_columns c
           WHERE c.index_owner = i.owner AND c.index_name = i.index_name)
       END AS definition,
       CASE WHEN i.index_type IN ('NORMAL', 'NORMAL/REV') THEN
         (SELECT LISTAGG('"' || c.column_name || '"', ', ') WITHIN GROUP (ORDER BY c.column_position)
            FROM all_ind_columns c
           WHERE c.index_owner = i.owner AND c.index_name = i.index_name)
       END AS column_list,
       i.index_type AS index_type,
       i.partitioned AS partitioned,
       i.logging AS logging,
       TRIM(i.degree) AS degree,
       i.compression AS compression,
       i.tablespace_name AS tablespace_name
  FROM all_indexes i
  LEFT JOIN all_ind_statistics st
    ON st.owner = i.owner AND st.index_name = i.index_name AND st.object_type = 'INDEX'
  LEFT JOIN user_tablespaces ts
    ON ts.tablespace_name = i.tablespace_name
 WHERE i.owner = :schema
   AND i.index_type IN ('NORMAL', 'NORMAL/REV', 'BITMAP', 'FUNCTION-BASED NORMAL', 'FUNCTION-BASED BITMAP')
   AND i.partitioned = 'NO'
   AND i.temporary = 'N'
   AND i.secondary = 'N'
   AND i.dropped = 'NO'
 ORDER BY i.owner, i.index_name;
