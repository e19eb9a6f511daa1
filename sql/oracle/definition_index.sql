-- Title: what an index is: its table, its kind, its key, and how it is partitioned
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the index (exact case)
-- Versions: 11.2 to 26ai
-- Of an expression (a descending column is one, too), whose text Oracle spells anew, only the place is told: its
-- column is hidden, named SYS_NC00004$ or, where extended statistics made it before, SYS_STU...
SELECT 'table' AS name, i.table_owner || '.' || i.table_name AS value
  FROM all_indexes i
 WHERE i.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND i.index_name = :name
 UNION ALL
SELECT 'kind' AS name,
       CASE i.uniqueness WHEN 'UNIQUE' THEN 'UNIQUE ' END
       || CASE WHEN i.index_type LIKE '%BITMAP%' THEN 'BITMAP' WHEN i.index_type LIKE '%/REV' THEN 'REVERSE' ELSE 'NORMAL' END AS value
  FROM all_indexes i
 WHERE i.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND i.index_name = :name
 UNION ALL
SELECT 'key' AS name,
       TO_CHAR(c.column_position) || ' '
       || CASE WHEN SUBSTR(c.column_name, 1, 6) IN ('SYS_NC', 'SYS_ST') THEN '(expression)' ELSE c.column_name END AS value
  FROM all_ind_columns c
 WHERE c.index_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND c.index_name = :name
 UNION ALL
SELECT 'partitioning' AS name,
       CASE p.locality WHEN 'LOCAL' THEN 'LOCAL' WHEN 'GLOBAL' THEN 'GLOBAL ' || p.partitioning_type ELSE 'NONE' END AS value
  FROM all_indexes i
  LEFT JOIN all_part_indexes p
    ON p.owner = i.owner AND p.index_name = i.index_name
 WHERE i.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND i.index_name = :name;
