-- Title: what a name leads to: the target of a synonym, the objects that a view or a program reads
-- Needs: nothing: ALL_ views show what the user may see
-- License: none
-- Effect: reads only
-- Params: :schema (null: the current one, and PUBLIC), :name (exact case)
-- Versions: 11.2 to 26ai
SELECT s.owner AS owner,
       'SYNONYM' AS kind,
       s.table_owner AS referenced_owner,
       s.table_name AS referenced_name,
       s.db_link AS link
  FROM all_synonyms s
 WHERE s.synonym_name = :name
   AND (s.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
        OR (:schema IS NULL AND s.owner = 'PUBLIC'))
 UNION ALL
SELECT d.owner AS owner,
       d.type AS kind,
       d.referenced_owner AS referenced_owner,
       d.referenced_name AS referenced_name,
       d.referenced_link_name AS link
  FROM all_dependencies d
 WHERE d.name = :name
   AND d.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND d.type <> 'SYNONYM';
