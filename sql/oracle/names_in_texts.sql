-- Title: What the names in a plan lead to: objects, directories, and synonyms and database links and where they lead
-- Needs: nothing: ALL_ views show what the user may see
-- License: none
-- Effect: reads only
-- Params: :words, the names, each between bars (|ORDERS|APP.TOTAL|); one without a dot is of the current schema
-- Versions: 11.2 to 26ai
SELECT o.object_name AS name,
       LOWER(o.object_type) || ' ' || o.owner || '.' || o.object_name AS leads_to
  FROM all_objects o
 WHERE o.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
   AND o.subobject_name IS NULL
   AND o.object_type IN ('TABLE', 'VIEW', 'MATERIALIZED VIEW', 'SEQUENCE', 'FUNCTION', 'PACKAGE', 'TYPE', 'OPERATOR')
   AND INSTR(:words, '|' || o.object_name || '|') > 0
 UNION ALL
SELECT o.owner || '.' || o.object_name AS name,
       LOWER(o.object_type) || ' ' || o.owner || '.' || o.object_name AS leads_to
  FROM all_objects o
 WHERE o.subobject_name IS NULL
   AND o.object_type IN ('TABLE', 'VIEW', 'MATERIALIZED VIEW', 'SEQUENCE', 'FUNCTION', 'PACKAGE', 'TYPE', 'OPERATOR')
   AND INSTR(:words, '|' || o.owner || '.' || o.object_name || '|') > 0
 UNION ALL
SELECT s.synonym_name AS name,
       'synonym ' || s.owner || '.' || s.synonym_name || ' for ' || s.table_owner || '.' || s.table_name
       || CASE WHEN s.db_link IS NULL THEN '' ELSE '@' || s.db_link END AS leads_to
  FROM all_synonyms s
 WHERE s.owner IN (SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'), 'PUBLIC')
   AND INSTR(:words, '|' || s.synonym_name || '|') > 0
 UNION ALL
SELECT s.owner || '.' || s.synonym_name AS name,
       'synonym ' || s.owner || '.' || s.synonym_name || ' for ' || s.table_owner || '.' || s.table_name
       || CASE WHEN s.db_link IS NULL THEN '' ELSE '@' || s.db_link END AS leads_to
  FROM all_synonyms s
 WHERE INSTR(:words, '|' || s.owner || '.' || s.synonym_name || '|') > 0
 UNION ALL
SELECT d.directory_name AS name, 'directory ' || d.directory_path AS leads_to
  FROM all_directories d
 WHERE INSTR(:words, '|' || d.directory_name || '|') > 0
 UNION ALL
SELECT l.db_link AS name,
       'database link ' || l.owner || '.' || l.db_link || ' as ' || l.username || ' to ' || l.host AS leads_to
  FROM all_db_links l
 WHERE INSTR(:words, '|' || l.db_link || '|') > 0
    OR INSTR(:words, '|' || SUBSTR(l.db_link, 1, INSTR(l.db_link || '.', '.') - 1) || '|') > 0;
