-- Title: which object this is, its degree, logging and row movement, logging of its partitions and subpartitions, what is unusable
-- Needs: to see the object (ALL_ views); a row of `unseen` where its table is not shown to this user
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case), :kind (TABLE or INDEX)
-- Versions: 11.2 to 26ai
-- No row of `identity` where ALL_OBJECTS does not show an index that ALL_INDEXES shows (see identity.sql).
-- INSTANCES stands beside a degree only where it is neither 1 nor what PARALLEL alone gives (DEFAULT twice).
-- LOGGING of a partitioned object itself is null, of a partition with subpartitions it may be NONE: theirs counts.
SELECT 'identity' AS name, NULL AS part,
       TO_CHAR(o.object_id) || ' ' || TO_CHAR(o.created, 'YYYY-MM-DD HH24:MI:SS') AS value, NULL AS unseen
  FROM all_objects o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.object_name = :name
   AND o.object_type = :kind
   AND o.subobject_name IS NULL
 UNION ALL
SELECT 'degree' AS name, NULL AS part,
       CASE TRIM(o.degree) WHEN '0' THEN '1' ELSE TRIM(o.degree) END
         || CASE WHEN COALESCE(TRIM(o.instances), '1') IN ('0', '1')
              OR TRIM(o.degree) || TRIM(o.instances) = 'DEFAULTDEFAULT' THEN ''
            ELSE ' INSTANCES ' || TRIM(o.instances) END AS value, NULL AS unseen
  FROM all_tables o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.table_name = :name
   AND :kind = 'TABLE'
 UNION ALL
SELECT 'logging' AS name, NULL AS part, TRIM(o.logging) AS value, NULL AS unseen
  FROM all_tables o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.table_name = :name
   AND :kind = 'TABLE'
 UNION ALL
SELECT 'row_movement' AS name, NULL AS part, TRIM(o.row_movement) AS value, NULL AS unseen
  FROM all_tables o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.table_name = :name
   AND :kind = 'TABLE'
 UNION ALL
SELECT 'logging' AS name, p.partition_name AS part, p.logging AS value, NULL AS unseen
  FROM all_tab_partitions p
 WHERE p.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.table_name = :name
   AND :kind = 'TABLE'
 UNION ALL
SELECT 'logging' AS name, p.subpartition_name AS part, p.logging AS value, NULL AS unseen
  FROM all_tab_subpartitions p
 WHERE p.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.table_name = :name
   AND :kind = 'TABLE'
 UNION ALL
SELECT 'degree' AS name, NULL AS part,
       CASE TRIM(o.degree) WHEN '0' THEN '1' ELSE TRIM(o.degree) END
         || CASE WHEN COALESCE(TRIM(o.instances), '1') IN ('0', '1')
              OR TRIM(o.degree) || TRIM(o.instances) = 'DEFAULTDEFAULT' THEN ''
            ELSE ' INSTANCES ' || TRIM(o.instances) END AS value, NULL AS unseen
  FROM all_indexes o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.index_name = :name
   AND :kind = 'INDEX'
 UNION ALL
SELECT 'logging' AS name, NULL AS part, TRIM(o.logging) AS value, NULL AS unseen
  FROM all_indexes o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.index_name = :name
   AND :kind = 'INDEX'
 UNION ALL
SELECT 'logging' AS name, p.partition_name AS part, p.logging AS value, NULL AS unseen
  FROM all_ind_partitions p
 WHERE p.index_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.index_name = :name
   AND :kind = 'INDEX'
 UNION ALL
SELECT 'logging' AS name, p.subpartition_name AS part, p.logging AS value, NULL AS unseen
  FROM all_ind_subpartitions p
 WHERE p.index_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.index_name = :name
   AND :kind = 'INDEX'
 UNION ALL
SELECT 'status' AS name, NULL AS part, o.status AS value, NULL AS unseen
  FROM all_indexes o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.index_name = :name
   AND :kind = 'INDEX'
   AND o.status = 'UNUSABLE'
 UNION ALL
SELECT 'status' AS name, p.partition_name AS part, p.status AS value, NULL AS unseen
  FROM all_ind_partitions p
 WHERE p.index_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.index_name = :name
   AND :kind = 'INDEX'
   AND p.status = 'UNUSABLE'
 UNION ALL
SELECT NULL AS name, NULL AS part, NULL AS value,
       CASE :kind WHEN 'TABLE'
         THEN 'GRANT SELECT ON SYS.DBA_TABLES TO "' || SYS_CONTEXT('USERENV', 'SESSION_USER')
              || '"; GRANT SELECT ON SYS.DBA_TAB_PARTITIONS TO "' || SYS_CONTEXT('USERENV', 'SESSION_USER')
              || '"; GRANT SELECT ON SYS.DBA_TAB_SUBPARTITIONS TO "' || SYS_CONTEXT('USERENV', 'SESSION_USER') || '"'
         ELSE 'GRANT SELECT ON SYS.DBA_INDEXES TO "' || SYS_CONTEXT('USERENV', 'SESSION_USER')
              || '"; GRANT SELECT ON SYS.DBA_IND_PARTITIONS TO "' || SYS_CONTEXT('USERENV', 'SESSION_USER')
              || '"; GRANT SELECT ON SYS.DBA_IND_SUBPARTITIONS TO "' || SYS_CONTEXT('USERENV', 'SESSION_USER') || '"'
       END AS unseen
  FROM dual d
 WHERE COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')) <> SYS_CONTEXT('USERENV', 'SESSION_USER')
   AND NOT EXISTS (SELECT 1
                     FROM session_privs p
                    WHERE p.privilege IN ('SELECT ANY TABLE', 'INSERT ANY TABLE', 'UPDATE ANY TABLE',
                                          'DELETE ANY TABLE', 'LOCK ANY TABLE'))
   AND NOT EXISTS (SELECT 1
                     FROM all_tables o
                    WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
                      AND o.table_name = :name
                      AND :kind = 'TABLE')
   AND NOT EXISTS (SELECT 1
                     FROM all_indexes o
                    WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
                      AND o.index_name = :name
                      AND :kind = 'INDEX');
