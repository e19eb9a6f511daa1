-- Title: What stands behind names of a plan: objects, synonyms, programs, triggers, row policies, links, and what these lead to
-- Needs: nothing: ALL_ views show what the user may see
-- License: none
-- Effect: reads only
-- Params: :words, objects, each between bars (|APP.ORDERS|APP.TOTAL|@FAR.EXAMPLE.COM|)
-- Versions: 11.2 to 26ai
-- `part` with `text` is what is approved, `leads_to` what to ask for next, `unread` what is not shown to this user.
-- A database may have millions of lines of source: they are reached by their objects, which are few.
-- Dependencies are those of the last compilation: what was put before a name since then is asked for in the owner's schema.
SELECT s.owner || '.' || s.synonym_name AS name,
       'synonym' AS part,
       'synonym ' || s.owner || '.' || s.synonym_name || ' for ' || s.table_owner || '.' || s.table_name
       || CASE WHEN s.db_link IS NULL THEN '' ELSE '@' || s.db_link END AS text,
       CASE WHEN s.db_link IS NULL THEN s.table_owner || '.' || s.table_name ELSE '@' || s.db_link END AS leads_to,
       CAST(NULL AS VARCHAR2(300)) AS unread
  FROM all_synonyms s
 WHERE INSTR(:words, '|' || s.owner || '.' || s.synonym_name || '|') > 0
   AND (s.table_owner IS NULL OR s.table_owner NOT IN ('SYS', 'XDB', 'MDSYS', 'CTXSYS', 'WMSYS', 'OLAPSYS'))
 UNION ALL
SELECT '@' || l.db_link AS name,
       'link of ' || l.owner AS part,
       'database link ' || l.owner || '.' || l.db_link || ' as ' || l.username || ' to ' || l.host AS text,
       CAST(NULL AS VARCHAR2(300)) AS leads_to,
       CAST(NULL AS VARCHAR2(300)) AS unread
  FROM all_db_links l
 WHERE INSTR(:words, '|@' || l.db_link || '|') > 0
 UNION ALL
SELECT d.owner || '.' || d.name AS name,
       CAST(NULL AS VARCHAR2(30)) AS part,
       CAST(NULL AS VARCHAR2(300)) AS text,
       CASE WHEN d.referenced_link_name IS NULL THEN d.referenced_owner || '.' || d.referenced_name
            ELSE '@' || d.referenced_link_name END AS leads_to,
       CAST(NULL AS VARCHAR2(300)) AS unread
  FROM all_dependencies d
 WHERE INSTR(:words, '|' || d.owner || '.' || d.name || '|') > 0
   AND d.referenced_owner NOT IN ('SYS', 'XDB', 'MDSYS', 'CTXSYS', 'WMSYS', 'OLAPSYS')
 UNION ALL
SELECT d.owner || '.' || d.name AS name,
       CAST(NULL AS VARCHAR2(30)) AS part,
       CAST(NULL AS VARCHAR2(300)) AS text,
       d.owner || '.' || d.referenced_name AS leads_to,
       CAST(NULL AS VARCHAR2(300)) AS unread
  FROM all_dependencies d
 WHERE INSTR(:words, '|' || d.owner || '.' || d.name || '|') > 0
   AND d.referenced_owner <> d.owner
 UNION ALL
SELECT d.owner || '.' || d.name AS name,
       CAST(NULL AS VARCHAR2(30)) AS part,
       CAST(NULL AS VARCHAR2(300)) AS text,
       d.owner || '.' || d.referenced_owner AS leads_to,
       CAST(NULL AS VARCHAR2(300)) AS unread
  FROM all_dependencies d
 WHERE INSTR(:words, '|' || d.owner || '.' || d.name || '|') > 0
   AND d.referenced_owner <> d.owner
 UNION ALL
SELECT s.owner || '.' || s.name AS name,
       LOWER(s.type) || ' ' || TO_CHAR(s.line) AS part,
       s.text AS text,
       CAST(NULL AS VARCHAR2(300)) AS leads_to,
       CAST(NULL AS VARCHAR2(300)) AS unread
  FROM all_objects o
  JOIN all_source s
    ON s.owner = o.owner
   AND s.name = o.object_name
 WHERE INSTR(:words, '|' || o.owner || '.' || o.object_name || '|') > 0
   AND o.object_type IN ('FUNCTION', 'PROCEDURE', 'PACKAGE', 'TRIGGER', 'TYPE')
 UNION ALL
SELECT t.table_owner || '.' || t.table_name AS name,
       'trigger ' || t.owner || '.' || t.trigger_name AS part,
       t.trigger_type || ' ' || t.triggering_event AS text,
       t.owner || '.' || t.trigger_name AS leads_to,
       CAST(NULL AS VARCHAR2(300)) AS unread
  FROM all_triggers t
 WHERE INSTR(:words, '|' || t.table_owner || '.' || t.table_name || '|') > 0
   AND TRIM(t.base_object_type) IN ('TABLE', 'VIEW')
   AND t.status = 'ENABLED'
 UNION ALL
SELECT p.object_owner || '.' || p.object_name AS name,
       'policy ' || p.policy_group || '.' || p.policy_name AS part,
       'sel ' || p.sel || ' ins ' || p.ins || ' upd ' || p.upd || ' del ' || p.del || ' idx ' || p.idx
       || ' check ' || p.chk_option || ' ' || p.policy_type
       || ' by ' || p.pf_owner || '.' || p.package || '.' || p.function AS text,
       p.pf_owner || '.' || COALESCE(p.package, p.function) AS leads_to,
       CAST(NULL AS VARCHAR2(300)) AS unread
  FROM all_policies p
 WHERE INSTR(:words, '|' || p.object_owner || '.' || p.object_name || '|') > 0
   AND p.enable = 'YES'
 UNION ALL
SELECT k.owner || '.' || k.table_name AS name,
       'key ' || f.owner || '.' || f.constraint_name AS part,
       f.delete_rule || ' ' || f.owner || '.' || f.table_name AS text,
       f.owner || '.' || f.table_name AS leads_to,
       CAST(NULL AS VARCHAR2(300)) AS unread
  FROM all_constraints k
  JOIN all_constraints f
    ON f.r_owner = k.owner
   AND f.r_constraint_name = k.constraint_name
 WHERE INSTR(:words, '|' || k.owner || '.' || k.table_name || '|') > 0
   AND f.constraint_type = 'R'
   AND f.status = 'ENABLED'
   AND f.delete_rule IN ('CASCADE', 'SET NULL')
 UNION ALL
SELECT e.owner || '.' || e.table_name AS name,
       'location' AS part,
       e.location AS text,
       CAST(NULL AS VARCHAR2(300)) AS leads_to,
       CAST(NULL AS VARCHAR2(300)) AS unread
  FROM all_external_locations e
 WHERE INSTR(:words, '|' || e.owner || '.' || e.table_name || '|') > 0
 UNION ALL
SELECT e.owner || '.' || e.table_name AS name,
       'folder ' || d.directory_name AS part,
       d.directory_path AS text,
       CAST(NULL AS VARCHAR2(300)) AS leads_to,
       CAST(NULL AS VARCHAR2(300)) AS unread
  FROM all_external_tables e
 CROSS JOIN all_directories d
 WHERE INSTR(:words, '|' || e.owner || '.' || e.table_name || '|') > 0
 UNION ALL
SELECT o.owner || '.' || o.object_name AS name,
       CAST(NULL AS VARCHAR2(30)) AS part,
       CAST(NULL AS VARCHAR2(300)) AS text,
       CAST(NULL AS VARCHAR2(300)) AS leads_to,
       LOWER(o.object_type) || ' ' || o.owner || '.' || o.object_name AS unread
  FROM all_objects o
 WHERE INSTR(:words, '|' || o.owner || '.' || o.object_name || '|') > 0
   AND (o.object_type IN ('FUNCTION', 'PROCEDURE', 'TRIGGER')
        OR (o.object_type = 'PACKAGE' AND o.owner <> SYS_CONTEXT('USERENV', 'SESSION_USER')))
   AND NOT EXISTS (SELECT 1
                     FROM all_source s
                    WHERE s.owner = o.owner
                      AND s.name = o.object_name
                      AND s.type = CASE o.object_type WHEN 'PACKAGE' THEN 'PACKAGE BODY' ELSE o.object_type END);
