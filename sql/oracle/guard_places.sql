-- Title: tablespaces of the objects of some schemas, and their default tablespaces
-- Needs: none beyond what everybody sees; DBA_USERS is not asked
-- License: none
-- Effect: reads only
-- Params: :schemas, :tablespaces (names, each between bars)
-- Versions: 11.2 to 26ai
-- For partitioned objects each partition has its own.
SELECT 'tablespace' AS place_kind,
       u.default_tablespace AS place,
       NULL AS path
  FROM user_users u
 UNION
SELECT 'tablespace' AS place_kind,
       t.tablespace_name AS place,
       NULL AS path
  FROM all_tables t
 WHERE INSTR(:schemas, '|' || t.owner || '|') > 0
   AND t.tablespace_name IS NOT NULL
   AND t.temporary = 'N'
 UNION
SELECT 'tablespace' AS place_kind,
       i.tablespace_name AS place,
       NULL AS path
  FROM all_indexes i
 WHERE INSTR(:schemas, '|' || i.owner || '|') > 0
   AND i.tablespace_name IS NOT NULL
   AND i.temporary = 'N'
 UNION
SELECT 'tablespace' AS place_kind,
       p.tablespace_name AS place,
       NULL AS path
  FROM all_tab_partitions p
 WHERE INSTR(:schemas, '|' || p.table_owner || '|') > 0
   AND p.tablespace_name IS NOT NULL
 UNION
SELECT 'tablespace' AS place_kind,
       q.tablespace_name AS place,
       NULL AS path
  FROM all_ind_partitions q
 WHERE INSTR(:schemas, '|' || q.index_owner || '|') > 0
   AND q.tablespace_name IS NOT NULL
 UNION
SELECT 'tablespace' AS place_kind,
       s.tablespace_name AS place,
       NULL AS path
  FROM user_tablespaces s
 WHERE INSTR(:tablespaces, '|' || s.tablespace_name || '|') > 0;
