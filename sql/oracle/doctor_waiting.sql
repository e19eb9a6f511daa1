-- Title: unusable indexes and parts of them, constraints that are not validated, tables with chained rows
-- Needs: nothing: the ALL_ views show what the user may see
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- CHAIN_CNT counts rows that are chained or migrated; ANALYZE fills it, DBMS_STATS does not.
SELECT 'unusable index' AS kind,
       i.owner AS schema_name,
       i.index_name AS object_name,
       i.table_owner || '.' || i.table_name AS of_table,
       1 AS number_of
  FROM all_indexes i
 WHERE i.status = 'UNUSABLE'
 UNION ALL
SELECT 'unusable index' AS kind,
       p.index_owner AS schema_name,
       p.index_name || ' partition ' || p.partition_name AS object_name,
       p.index_owner AS of_table,
       1 AS number_of
  FROM all_ind_partitions p
 WHERE p.status = 'UNUSABLE'
 UNION ALL
SELECT 'unusable index' AS kind,
       s.index_owner AS schema_name,
       s.index_name || ' subpartition ' || s.subpartition_name AS object_name,
       s.index_owner AS of_table,
       1 AS number_of
  FROM all_ind_subpartitions s
 WHERE s.status = 'UNUSABLE'
 UNION ALL
SELECT 'unvalidated constraint' AS kind,
       c.owner AS schema_name,
       c.constraint_name AS object_name,
       c.owner || '.' || c.table_name AS of_table,
       1 AS number_of
  FROM all_constraints c
  JOIN all_tables t
    ON t.owner = c.owner AND t.table_name = c.table_name AND t.dropped = 'NO'
 WHERE c.constraint_type IN ('P', 'U', 'C', 'R')
   AND c.status = 'ENABLED'
   AND c.validated = 'NOT VALIDATED'
 UNION ALL
SELECT 'chained rows' AS kind,
       t.owner AS schema_name,
       t.table_name AS object_name,
       t.owner || '.' || t.table_name AS of_table,
       t.chain_cnt AS number_of
  FROM all_tables t
 WHERE t.chain_cnt > 0 AND t.dropped = 'NO'
 ORDER BY 1, 5 DESC, 2, 3;
