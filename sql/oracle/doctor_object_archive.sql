-- Title: whether a flashback archive follows the table worked on
-- Needs: SELECT on SYS.DBA_FLASHBACK_ARCHIVE_TABLES
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the table worked on (exact case)
-- Versions: 11.2 to 26ai
SELECT f.owner_name AS on_schema,
       f.table_name AS on_table,
       f.flashback_archive_name AS item
  FROM dba_flashback_archive_tables f
 WHERE f.owner_name = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND f.table_name = :name;
