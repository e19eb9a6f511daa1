-- Title: indexes of a table
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the table (exact case)
-- Versions: 11.2 to 26ai
-- The key is spelled here for plain B-tree indexes; `index_keys` has the others, whose expressions are LONGs.
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
             AND g.segment_type LIKE 'INDEX%'
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
       i.join_index AS join_index,
       i.temporary AS temporary,
       i.visibility AS visibility,
       i.prefix_length AS prefix_length,
       i.partitioned AS partitioned,
       pi.locality AS locality,
       pi.partitioning_type AS partitioning_type,
       pi.subpartitioning_type AS subpartitioning_type,
       pi.partitioning_key_count AS partitioning_key_count,
       i.logging AS logging,
       TRIM(i.degree) || CASE WHEN COALESCE(TRIM(i.instances), '1') IN ('0', '1')
              OR TRIM(i.degree) || TRIM(i.instances) = 'DEFAULTDEFAULT' THEN ''
            ELSE ' INSTANCES ' || TRIM(i.instances) END AS degree,
       i.compression AS compression,
       i.pct_free AS pct_free,
       i.tablespace_name AS tablespace_name
  FROM all_indexes i
  LEFT JOIN all_part_indexes pi
    ON pi.owner = i.owner AND pi.index_name = i.index_name
  LEFT JOIN all_ind_statistics st
    ON st.owner = i.owner AND st.index_name = i.index_name AND st.object_type = 'INDEX'
  LEFT JOIN user_tablespaces ts
    ON ts.tablespace_name = i.tablespace_name
 WHERE i.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND i.table_name = :name
   AND i.index_type <> 'LOB'
   AND i.secondary = 'N'
   AND i.dropped = 'NO'
 ORDER BY i.owner, i.index_name;
