-- Title: what the given names resolve to: a remote table, an editioning view
-- Needs: nothing: ALL_ views
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the table worked on; :source_schema, :source_name of the one read (exact case)
-- Versions: 11.2 to 26ai
SELECT 'database link' AS what,
       s.owner AS on_schema,
       s.synonym_name AS on_table,
       s.table_name AS item,
       s.db_link AS detail
  FROM all_synonyms s
 WHERE s.db_link IS NOT NULL
   AND s.synonym_name IN (:name, :source_name)
   AND s.owner IN ('PUBLIC', COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')),
                   COALESCE(:source_schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')))
UNION ALL
SELECT 'editioning view' AS what,
       v.owner AS on_schema,
       v.view_name AS on_table,
       v.table_name AS item,
       CAST(NULL AS VARCHAR2(30)) AS detail
  FROM all_editioning_views v
 WHERE v.view_name = :name
   AND v.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'));
