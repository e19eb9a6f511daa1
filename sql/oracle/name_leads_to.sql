-- Title: what names lead to: objects, the targets of synonyms, what views and programs read, and what DDL fires
-- Needs: nothing: ALL_ views show what the user may see
-- License: none
-- Effect: reads only
-- Params: :n1 :n2 :n3 :n4 :n5 :n6 :n7 :n8 :n9 :n10 :n11 :n12 :n13 :n14 :n15 :n16 :n17 :n18 :n19 :n20 (names, exact case; null where there are fewer) :s1 :s2 :s3 :s4 :s5 (schemas besides the current one)
-- Versions: 11.2 to 26ai
-- ALL_TRIGGERS shows triggers of others on the database only to who has CREATE ANY TRIGGER; BASE_OBJECT_TYPE may be padded.
SELECT o.owner AS owner,
       o.object_name AS name,
       o.object_type AS kind,
       CASE WHEN o.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') THEN 1 ELSE 0 END AS is_current,
       CAST(NULL AS VARCHAR2(128)) AS referenced_owner,
       CAST(NULL AS VARCHAR2(128)) AS referenced_name,
       CAST(NULL AS VARCHAR2(128)) AS link
  FROM all_objects o
 WHERE o.object_name IN (:n1, :n2, :n3, :n4, :n5, :n6, :n7, :n8, :n9, :n10,
                         :n11, :n12, :n13, :n14, :n15, :n16, :n17, :n18, :n19, :n20)
   AND o.owner IN (SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'), 'PUBLIC', :s1, :s2, :s3, :s4, :s5)
   AND o.subobject_name IS NULL
   AND o.object_type <> 'SYNONYM'
 UNION ALL
SELECT s.owner AS owner,
       s.synonym_name AS name,
       'SYNONYM' AS kind,
       CASE WHEN s.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') THEN 1 ELSE 0 END AS is_current,
       s.table_owner AS referenced_owner,
       s.table_name AS referenced_name,
       s.db_link AS link
  FROM all_synonyms s
 WHERE s.synonym_name IN (:n1, :n2, :n3, :n4, :n5, :n6, :n7, :n8, :n9, :n10,
                          :n11, :n12, :n13, :n14, :n15, :n16, :n17, :n18, :n19, :n20)
   AND s.owner IN (SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'), 'PUBLIC', :s1, :s2, :s3, :s4, :s5)
 UNION ALL
SELECT d.owner AS owner,
       d.name AS name,
       'READS' AS kind,
       CASE WHEN d.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') THEN 1 ELSE 0 END AS is_current,
       d.referenced_owner AS referenced_owner,
       d.referenced_name AS referenced_name,
       d.referenced_link_name AS link
  FROM all_dependencies d
 WHERE d.name IN (:n1, :n2, :n3, :n4, :n5, :n6, :n7, :n8, :n9, :n10,
                  :n11, :n12, :n13, :n14, :n15, :n16, :n17, :n18, :n19, :n20)
   AND d.owner IN (SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'), 'PUBLIC', :s1, :s2, :s3, :s4, :s5)
   AND d.type <> 'SYNONYM'
 UNION ALL
SELECT t.owner AS owner,
       t.trigger_name AS name,
       'DDL TRIGGER' AS kind,
       0 AS is_current,
       CAST(NULL AS VARCHAR2(128)) AS referenced_owner,
       CAST(NULL AS VARCHAR2(128)) AS referenced_name,
       CAST(NULL AS VARCHAR2(128)) AS link
  FROM all_triggers t
 WHERE t.status = 'ENABLED'
   AND TRIM(t.base_object_type) NOT IN ('TABLE', 'VIEW')
   AND (TRIM(t.base_object_type) <> 'SCHEMA' OR SYS_CONTEXT('USERENV', 'SESSION_USER') IN (t.owner, t.table_owner))
   AND (t.triggering_event LIKE '%DDL%' OR t.triggering_event LIKE '%CREATE%' OR t.triggering_event LIKE '%ALTER%'
        OR t.triggering_event LIKE '%DROP%' OR t.triggering_event LIKE '%COMMENT%')
 UNION ALL
SELECT CAST(NULL AS VARCHAR2(128)) AS owner,
       CAST(NULL AS VARCHAR2(128)) AS name,
       'DDL TRIGGERS NOT SHOWN' AS kind,
       0 AS is_current,
       CAST(NULL AS VARCHAR2(128)) AS referenced_owner,
       CAST(NULL AS VARCHAR2(128)) AS referenced_name,
       CAST(NULL AS VARCHAR2(128)) AS link
  FROM dual x
 WHERE NOT EXISTS (SELECT 1 FROM session_privs p WHERE p.privilege = 'CREATE ANY TRIGGER');
