-- Title: sizes of the partitions of indexes of another schema
-- Needs: SELECT on SYS.DBA_SEGMENTS
-- License: none
-- Effect: reads only
-- Params: :schema, :name of an index or of a table (exact case); without a name all of the schema
-- Versions: 11.2 to 26ai
SELECT g.owner AS of_schema,
       g.segment_name AS of_index,
       g.partition_name AS part_name,
       g.bytes AS byte_count
  FROM all_indexes i
  JOIN dba_segments g
    ON g.owner = i.owner AND g.segment_name = i.index_name
 WHERE (i.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
        AND (:name IS NULL OR i.index_name = :name)
        OR i.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
        AND i.table_name = :name)
   AND i.dropped = 'NO'
   AND g.segment_type LIKE 'INDEX%'
 ORDER BY g.owner, g.segment_name, g.partition_name;
