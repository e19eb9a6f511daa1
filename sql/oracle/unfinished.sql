-- Title: what an index lacks to be complete: half-built, or not usable; no row where nothing is wrong
-- Needs: nothing; `unseen` where the journal table is not shown (see identity.sql)
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the index (exact case)
-- Versions: 11.2 to 26ai
-- STATUS says VALID of an index that was being built ONLINE when its session ended (text of ALL_INDEXES): its
-- journal table SYS_JOURNAL_<object number> tells, until SMON or DBMS_REPAIR.ONLINE_INDEX_CLEAN takes it away.
SELECT 'was half-built by an ONLINE build or rebuild that was cut off (ORA-08104)' AS state,
       'DECLARE done BOOLEAN; BEGIN done := DBMS_REPAIR.ONLINE_INDEX_CLEAN(' || TO_CHAR(p.object_id)
       || '); END' AS remedy,
       NULL AS rebuild,
       'yes' AS half_built,
       NULL AS unseen
  FROM all_objects p
  JOIN all_objects j
    ON j.owner = p.owner AND j.object_name = 'SYS_JOURNAL_' || TO_CHAR(p.object_id)
 WHERE p.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.object_name = :name
   AND p.object_type LIKE 'INDEX%'
 UNION ALL
SELECT 'is ' || i.status AS state,
       'DROP INDEX "' || i.owner || '"."' || i.index_name || '"' AS remedy,
       'ALTER INDEX "' || i.owner || '"."' || i.index_name || '" REBUILD' AS rebuild,
       NULL AS half_built,
       NULL AS unseen
  FROM all_indexes i
 WHERE i.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND i.index_name = :name
   AND i.status NOT IN ('VALID', 'N/A')
 UNION ALL
SELECT 'has the partition ' || i.partition_name || ', which is ' || i.status AS state,
       'DROP INDEX "' || i.index_owner || '"."' || i.index_name || '"' AS remedy,
       'ALTER INDEX "' || i.index_owner || '"."' || i.index_name || '" REBUILD PARTITION "' || i.partition_name
       || '"' AS rebuild,
       NULL AS half_built,
       NULL AS unseen
  FROM all_ind_partitions i
 WHERE i.index_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND i.index_name = :name
   AND i.status NOT IN ('USABLE', 'N/A')
 UNION ALL
SELECT NULL AS state,
       NULL AS remedy,
       NULL AS rebuild,
       NULL AS half_built,
       'GRANT SELECT ON SYS.DBA_OBJECTS TO "' || SYS_CONTEXT('USERENV', 'SESSION_USER') || '"' AS unseen
  FROM dual d
 WHERE COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')) <> SYS_CONTEXT('USERENV', 'SESSION_USER')
   AND NOT EXISTS (SELECT 1
                     FROM session_privs p
                    WHERE p.privilege IN ('SELECT ANY TABLE', 'INSERT ANY TABLE', 'UPDATE ANY TABLE',
                                          'DELETE ANY TABLE', 'LOCK ANY TABLE'));
