-- Title: partitions of indexes
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name of an index or of a table (exact case); without a name all of the schema
-- Versions: 11.2 to 26ai
-- HIGH_VALUE is a LONG: it can be fetched, and nothing else. Partitions of a composite index have no segment.
SELECT p.index_owner AS of_schema,
       p.index_name AS of_index,
       p.partition_name AS part_name,
       p.partition_position AS position,
       p.composite AS composite,
       CASE p.status WHEN 'UNUSABLE' THEN 'no' ELSE 'yes' END AS is_valid,
       p.logging AS logging,
       p.compression AS compression,
       p.tablespace_name AS tablespace_name,
       COALESCE(g.bytes, p.leaf_blocks * ts.block_size) AS byte_count,
       p.high_value AS high_value
  FROM all_indexes i
  JOIN all_ind_partitions p
    ON p.index_owner = i.owner AND p.index_name = i.index_name
  LEFT JOIN user_segments g
    ON g.segment_name = p.index_name AND g.partition_name = p.partition_name
   AND g.segment_type = 'INDEX PARTITION' AND p.index_owner = SYS_CONTEXT('USERENV', 'SESSION_USER')
  LEFT JOIN user_tablespaces ts
    ON ts.tablespace_name = p.tablespace_name
 WHERE (i.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
        AND (:name IS NULL OR i.index_name = :name)
        OR i.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
        AND i.table_name = :name)
   AND i.dropped = 'NO'
 ORDER BY p.index_owner, p.index_name, p.partition_position;
