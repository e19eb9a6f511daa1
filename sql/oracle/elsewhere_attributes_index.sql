-- Title: which object this is, degree and logging of an index and of its parts, and what is unusable, where the ALL_ views do not show them
-- Needs: SELECT on SYS.DBA_OBJECTS, SYS.DBA_INDEXES, SYS.DBA_IND_PARTITIONS and SYS.DBA_IND_SUBPARTITIONS
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
   AND o.object_type = 'INDEX'
   AND o.subobject_name IS NULL
 UNION ALL
SELECT 'degree' AS name, NULL AS part,
       CASE TRIM(o.degree) WHEN '0' THEN '1' ELSE TRIM(o.degree) END
         || CASE WHEN COALESCE(TRIM(o.instances), '1') IN ('0', '1')
              OR TRIM(o.degree) || TRIM(o.instances) = 'DEFAULTDEFAULT' THEN ''
            ELSE ' INSTANCES ' || TRIM(o.instances) END AS value
  FROM dba_indexes o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.index_name = :name
 UNION ALL
SELECT 'logging' AS name, NULL AS part, TRIM(o.logging) AS value
  FROM dba_indexes o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.index_name = :name
 UNION ALL
SELECT 'logging' AS name, p.partition_name AS part, p.logging AS value
  FROM dba_ind_partitions p
 WHERE p.index_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.index_name = :name
 UNION ALL
SELECT 'logging' AS name, p.subpartition_name AS part, p.logging AS value
  FROM dba_ind_subpartitions p
 WHERE p.index_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.index_name = :name
 UNION ALL
SELECT 'status' AS name, NULL AS part, o.status AS value
  FROM dba_indexes o
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.index_name = :name
   AND o.status = 'UNUSABLE'
 UNION ALL
SELECT 'status' AS name, p.partition_name AS part, p.status AS value
  FROM dba_ind_partitions p
 WHERE p.index_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.index_name = :name
   AND p.status = 'UNUSABLE';
