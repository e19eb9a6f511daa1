-- Title: Bytes of a table and its indexes, and how many indexes or parts of them are unusable
-- Needs: SELECT on SYS.DBA_SEGMENTS
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the table (exact case)
-- Versions: 11.2 to 26ai
SELECT (SELECT SUM(g.bytes)
          FROM dba_segments g
         WHERE g.owner = :schema AND g.segment_name = :name AND g.segment_type LIKE 'TABLE%') AS table_bytes,
       (SELECT SUM(g.bytes)
          FROM all_indexes i
          JOIN dba_segments g
            ON g.owner = i.owner AND g.segment_name = i.index_name AND g.segment_type LIKE 'INDEX%'
         WHERE i.table_owner = :schema AND i.table_name = :name) AS index_bytes,
       (SELECT COUNT(*)
          FROM all_indexes i
         WHERE i.table_owner = :schema AND i.table_name = :name AND i.status = 'UNUSABLE')
       + (SELECT COUNT(*)
            FROM all_indexes i
            JOIN all_ind_partitions p
              ON p.index_owner = i.owner AND p.index_name = i.index_name
           WHERE i.table_owner = :schema AND i.table_name = :name AND p.status = 'UNUSABLE')
       + (SELECT COUNT(*)
            FROM all_indexes i
            JOIN all_ind_subpartitions p
              ON p.index_owner = i.owner AND p.index_name = i.index_name
           WHERE i.table_owner = :schema AND i.table_name = :name AND p.status = 'UNUSABLE') AS unusable_parts
  FROM dual;
