-- Title: partitions of a table with their bounds
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
-- HIGH_VALUE is a LONG: it can be fetched, but not be compared.
SELECT p.high_value AS high_value
  FROM all_tab_partitions p
 WHERE p.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.table_name = :name
 ORDER BY p.partition_position;
