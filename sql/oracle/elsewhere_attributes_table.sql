-- Title: which object this is, degree, logging and row movement of a table, and logging of its parts, where the ALL_ views do not show them
-- Needs: SELECT on SYS.DBA_OBJECTS, SYS.DBA_TABLES, SYS.DBA_TAB_PARTITIONS and SYS.DBA_TAB_SUBPARTITIONS
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
-- Rows as of `attributes`, which says what they mean.
SELECT 'identity' AS name, NULL AS part,
       TO_CHAR(o.object_id) || ' ' || TO_CHAR(o.created, 'YYYY-MM-DD HH24:MI:SS') AS value
  FROM dba_objects o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.object_name = :name
   AND o.object_type = 'TABLE'
   AND o.subobject_name IS NULL
 UNION ALL
SELECT 'degree' AS name, NULL AS part,
       CASE TRIM(o.degree) WHEN '0' THEN '1' ELSE TRIM(o.degree) END
         || CASE WHEN COALESCE(TRIM(o.instances), '1') IN ('0', '1')
              OR TRIM(o.degree) || TRIM(o.instances) = 'DEFAULTDEFAULT' THEN ''
            ELSE ' INSTANCES ' || TRIM(o.instances) END AS value
  FROM dba_tables o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.table_name = :name
 UNION ALL
SELECT 'logging' AS name, NULL AS part, TRIM(o.logging) AS value
  FROM dba_tables o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.table_name = :name
 UNION ALL
SELECT 'row_movement' AS name, NULL AS part, TRIM(o.row_movement) AS value
  FROM dba_tables o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.table_name = :name
 UNION ALL
SELECT 'logging' AS name, p.partition_name AS part, p.logging AS value
  FROM dba_tab_partitions p
 WHERE p.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.table_name = :name
 UNION ALL
SELECT 'logging' AS name, p.subpartition_name AS part, p.logging AS value
  FROM dba_tab_subpartitions p
 WHERE p.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.table_name = :name;
