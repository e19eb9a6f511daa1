-- Title: columns a table is partitioned by
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT k.column_name AS column_name
  FROM all_part_key_columns k
 WHERE k.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND k.name = :name
   AND TRIM(k.object_type) = 'TABLE'
 ORDER BY k.column_position;
