-- Title: subpartitions of indexes
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name of an index or of a table (exact case); without a name all of the schema
-- Versions: 11.2 to 26ai
SELECT s.index_owner AS of_schema,
       s.index_name AS of_index,
       s.partition_name AS partition_name,
       s.subpartition_name AS part_name,
       s.subpartition_position AS position,
       CASE s.status WHEN 'UNUSABLE' THEN 'no' ELSE 'yes' END AS is_valid,
       s.logging AS logging,
       s.tablespace_name AS tablespace_name,
       COALESCE(g.bytes, s.leaf_blocks * ts.block_size) AS byte_count
  FROM all_indexes i
  JOIN all_ind_partitions p
    ON p.index_owner = i.owner AND p.index_name = i.index_name
  JOIN all_ind_subpartitions s
    ON s.index_owner = p.index_owner AND s.index_name = p.index_name AND s.partition_name = p.partition_name
  LEFT JOIN user_segments g
    ON g.segment_name = s.index_name AND g.partition_name = s.subpartition_name
   AND g.segment_type = 'INDEX SUBPARTITION' AND s.index_owner = SYS_CONTEXT('USERENV', 'SESSION_USER')
  LEFT JOIN user_tablespaces ts
    ON ts.tablespace_name = s.tablespace_name
 WHERE (i.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
        AND (:name IS NULL OR i.index_name = :name)
        OR i.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
        AND i.table_name = :name)
   AND i.dropped = 'NO'
 ORDER BY s.index_owner, s.index_name, p.partition_position, s.subpartition_position;
