-- Title: what a table is, where the ALL_ views do not show it: its columns (as SELECT * shows them), and how it is partitioned
-- Needs: SELECT on SYS.DBA_TABLES, SYS.DBA_TAB_COLS and SYS.DBA_PART_TABLES
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT 'column' AS name, c.column_name AS value
  FROM dba_tab_cols c
 WHERE c.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND c.table_name = :name
   AND c.hidden_column = 'NO'
 UNION ALL
SELECT 'partitioning' AS name, COALESCE(p.partitioning_type, 'NONE') AS value
  FROM dba_tables t
  LEFT JOIN dba_part_tables p
    ON p.owner = t.owner AND p.table_name = t.table_name
 WHERE t.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND t.table_name = :name;
