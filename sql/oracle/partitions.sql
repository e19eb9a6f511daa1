-- Title: partitions of a table with their bounds and attributes
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
-- HIGH_VALUE is a LONG: it can be fetched, but not be compared. ALL_TABLES has null for what a partitioned table's
-- partitions have each for themselves; LOGGING is NONE where subpartitions have theirs.
SELECT p.high_value AS high_value,
       p.partition_name AS part_name,
       p.composite AS composite,
       p.logging AS logging,
       p.compression AS compression,
       p.compress_for AS compress_for,
       p.pct_free AS pct_free,
       p.tablespace_name AS tablespace_name
  FROM all_tab_partitions p
 WHERE p.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.table_name = :name
 ORDER BY p.partition_position;
