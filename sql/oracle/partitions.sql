-- Title: partitions of a table with their bounds, attributes and sizes
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
-- HIGH_VALUE is a LONG: it can be fetched, but not be compared. ALL_TABLES has null for what a partitioned table's
-- partitions have each for themselves; LOGGING is NONE where subpartitions have theirs. The size is that of the
-- user's own segments, else that of the statistics.
SELECT p.high_value AS high_value,
       p.partition_name AS part_name,
       p.composite AS composite,
       p.logging AS logging,
       p.compression AS compression,
       p.compress_for AS compress_for,
       p.pct_free AS pct_free,
       p.tablespace_name AS tablespace_name,
       COALESCE(g.bytes, p.blocks * ts.block_size) AS byte_count
  FROM all_tab_partitions p
  LEFT JOIN user_segments g
    ON g.segment_name = p.table_name AND g.partition_name = p.partition_name
   AND g.segment_type = 'TABLE PARTITION' AND p.table_owner = SYS_CONTEXT('USERENV', 'SESSION_USER')
  LEFT JOIN user_tablespaces ts
    ON ts.tablespace_name = p.tablespace_name
 WHERE p.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.table_name = :name
 ORDER BY p.partition_position;
