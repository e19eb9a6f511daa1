-- Title: how a table is partitioned
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT p.partitioning_type AS partitioning_type,
       p.subpartitioning_type AS subpartitioning_type,
       p.partition_count AS partition_count,
       p.interval AS interval_text
  FROM all_part_tables p
 WHERE p.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.table_name = :name;
