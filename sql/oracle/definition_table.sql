-- Title: what a table is: its columns (as SELECT * shows them), and how it is partitioned
-- Needs: to see the table (ALL_ views); a row of `unseen` where it is not shown to this user
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT 'column' AS name, c.column_name AS value, NULL AS unseen
  FROM all_tab_cols c
 WHERE c.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND c.table_name = :name
   AND c.hidden_column = 'NO'
 UNION ALL
SELECT 'partitioning' AS name, COALESCE(p.partitioning_type, 'NONE') AS value, NULL AS unseen
  FROM all_tables t
  LEFT JOIN all_part_tables p
    ON p.owner = t.owner AND p.table_name = t.table_name
 WHERE t.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND t.table_name = :name
 UNION ALL
SELECT NULL AS name, NULL AS value,
       'GRANT SELECT ON SYS.DBA_TABLES TO "' || SYS_CONTEXT('USERENV', 'SESSION_USER')
       || '"; GRANT SELECT ON SYS.DBA_TAB_COLS TO "' || SYS_CONTEXT('USERENV', 'SESSION_USER')
       || '"; GRANT SELECT ON SYS.DBA_PART_TABLES TO "' || SYS_CONTEXT('USERENV', 'SESSION_USER') || '"' AS unseen
  FROM dual d
 WHERE COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')) <> SYS_CONTEXT('USERENV', 'SESSION_USER')
   AND NOT EXISTS (SELECT 1
                     FROM session_privs p
                    WHERE p.privilege IN ('SELECT ANY TABLE', 'INSERT ANY TABLE', 'UPDATE ANY TABLE',
                                          'DELETE ANY TABLE', 'LOCK ANY TABLE'))
   AND NOT EXISTS (SELECT 1
                     FROM all_tables t
                    WHERE t.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
                      AND t.table_name = :name);
