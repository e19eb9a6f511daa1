-- Title: What the names in a plan lead to: objects, directories, synonyms, database links, and triggers of the database
-- Needs: nothing: ALL_ views show what the user may see
-- License: none
-- Effect: reads only
-- Params: :words, the names, each between bars (|ORDERS|APP.TOTAL|APP.*|); one without a dot is of the current schema
-- Versions: 11.2 to 26ai
-- `behind` is what `names_behind` is asked for. Of a schema that is worked on as a whole (APP.*) these are its materialized
-- views and what its indexes call. Triggers of the database and of this user's schema run whatever is named.
SELECT o.object_name AS name,
       LOWER(o.object_type) || ' ' || o.owner || '.' || o.object_name AS leads_to,
       CASE WHEN o.owner NOT IN ('SYS', 'XDB', 'MDSYS', 'CTXSYS', 'WMSYS', 'OLAPSYS')
            THEN o.owner || '.' || o.object_name END AS behind
  FROM all_objects o
 WHERE o.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
   AND o.subobject_name IS NULL
   AND o.object_type IN ('TABLE', 'VIEW', 'MATERIALIZED VIEW', 'SEQUENCE', 'FUNCTION', 'PACKAGE', 'TYPE', 'OPERATOR')
   AND INSTR(:words, '|' || o.object_name || '|') > 0
 UNION ALL
SELECT o.owner || '.' || o.object_name AS name,
       LOWER(o.object_type) || ' ' || o.owner || '.' || o.object_name AS leads_to,
       CASE WHEN o.owner NOT IN ('SYS', 'XDB', 'MDSYS', 'CTXSYS', 'WMSYS', 'OLAPSYS')
            THEN o.owner || '.' || o.object_name END AS behind
  FROM all_objects o
 WHERE o.subobject_name IS NULL
   AND o.object_type IN ('TABLE', 'VIEW', 'MATERIALIZED VIEW', 'SEQUENCE', 'FUNCTION', 'PACKAGE', 'TYPE', 'OPERATOR')
   AND INSTR(:words, '|' || o.owner || '.' || o.object_name || '|') > 0
 UNION ALL
SELECT s.synonym_name AS name,
       'synonym ' || s.owner || '.' || s.synonym_name || ' for ' || s.table_owner || '.' || s.table_name
       || CASE WHEN s.db_link IS NULL THEN '' ELSE '@' || s.db_link END AS leads_to,
       s.owner || '.' || s.synonym_name AS behind
  FROM all_synonyms s
 WHERE s.owner IN (SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'), 'PUBLIC')
   AND INSTR(:words, '|' || s.synonym_name || '|') > 0
 UNION ALL
SELECT s.owner || '.' || s.synonym_name AS name,
       'synonym ' || s.owner || '.' || s.synonym_name || ' for ' || s.table_owner || '.' || s.table_name
       || CASE WHEN s.db_link IS NULL THEN '' ELSE '@' || s.db_link END AS leads_to,
       s.owner || '.' || s.synonym_name AS behind
  FROM all_synonyms s
 WHERE INSTR(:words, '|' || s.owner || '.' || s.synonym_name || '|') > 0
 UNION ALL
SELECT d.directory_name AS name,
       'directory ' || d.directory_path AS leads_to,
       CAST(NULL AS VARCHAR2(300)) AS behind
  FROM all_directories d
 WHERE INSTR(:words, '|' || d.directory_name || '|') > 0
 UNION ALL
SELECT l.db_link AS name,
       'database link ' || l.owner || '.' || l.db_link || ' as ' || l.username || ' to ' || l.host AS leads_to,
       CAST(NULL AS VARCHAR2(300)) AS behind
  FROM all_db_links l
 WHERE INSTR(:words, '|' || l.db_link || '|') > 0
    OR INSTR(:words, '|' || SUBSTR(l.db_link, 1, INSTR(l.db_link || '.', '.') - 1) || '|') > 0
 UNION ALL
SELECT m.owner || '.*' AS name,
       'materialized view ' || m.owner || '.' || m.mview_name AS leads_to,
       m.owner || '.' || m.mview_name AS behind
  FROM all_mviews m
 WHERE INSTR(:words, '|' || m.owner || '.*|') > 0
 UNION ALL
SELECT d.owner || '.*' AS name,
       LOWER(d.referenced_type) || ' ' || d.referenced_owner || '.' || d.referenced_name AS leads_to,
       d.referenced_owner || '.' || d.referenced_name AS behind
  FROM all_dependencies d
 WHERE d.type = 'INDEX'
   AND d.referenced_type IN ('FUNCTION', 'PACKAGE', 'TYPE', 'OPERATOR')
   AND d.referenced_owner NOT IN ('SYS', 'XDB', 'MDSYS', 'CTXSYS', 'WMSYS', 'OLAPSYS')
   AND INSTR(:words, '|' || d.owner || '.*|') > 0
 UNION ALL
SELECT 'triggers of the database' AS name,
       'trigger ' || t.owner || '.' || t.trigger_name || ' ' || t.trigger_type || ' ' || t.triggering_event AS leads_to,
       t.owner || '.' || t.trigger_name AS behind
  FROM all_triggers t
 WHERE t.status = 'ENABLED'
   AND TRIM(t.base_object_type) NOT IN ('TABLE', 'VIEW')
   AND (TRIM(t.base_object_type) <> 'SCHEMA' OR SYS_CONTEXT('USERENV', 'SESSION_USER') IN (t.owner, t.table_owner))
   AND t.owner NOT IN ('SYS', 'XDB', 'MDSYS', 'CTXSYS', 'WMSYS', 'OLAPSYS', 'LBACSYS', 'GSMADMIN_INTERNAL', 'DVSYS')
 UNION ALL
SELECT CAST(NULL AS VARCHAR2(128)) AS name,
       'triggers of the database and on tables of others are not shown to this user (CREATE ANY TRIGGER shows them)'
       AS leads_to,
       CAST(NULL AS VARCHAR2(300)) AS behind
  FROM dual x
 WHERE NOT EXISTS (SELECT 1 FROM session_privs p WHERE p.privilege = 'CREATE ANY TRIGGER');
