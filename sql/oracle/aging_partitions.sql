-- Title: Partitions of a table with their bounds and sizes, what they are partitioned by, and the database's time
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
-- HIGH_VALUE is a LONG: it can be fetched, but not be compared. BY_INTERVAL is NO for partitions of the range section of a table
-- with intervals. Of a composite partition the size is that of the statistics.
SELECT p.high_value AS high_value,
       p.table_owner AS schema_name,
       p.table_name AS table_name,
       p.partition_name AS part_name,
       p.interval AS by_interval,
       t.partitioning_type AS partitioning_type,
       t.interval AS interval_text,
       (SELECT COUNT(*)
          FROM all_part_key_columns k
         WHERE k.owner = p.table_owner AND k.name = p.table_name AND TRIM(k.object_type) = 'TABLE') AS key_count,
       (SELECT MAX(c.data_type)
          FROM all_part_key_columns k
          JOIN all_tab_cols c
            ON c.owner = k.owner AND c.table_name = k.name AND c.column_name = k.column_name
         WHERE k.owner = p.table_owner AND k.name = p.table_name AND TRIM(k.object_type) = 'TABLE') AS key_type,
       TO_CHAR(SYSDATE, 'YYYY-MM-DD HH24:MI:SS') AS now,
       COALESCE(g.bytes, p.blocks * ts.block_size) AS byte_count
  FROM all_tab_partitions p
  JOIN all_part_tables t
    ON t.owner = p.table_owner AND t.table_name = p.table_name
  LEFT JOIN user_segments g
    ON g.segment_name = p.table_name AND g.partition_name = p.partition_name
   AND g.segment_type = 'TABLE PARTITION' AND p.table_owner = SYS_CONTEXT('USERENV', 'SESSION_USER')
  LEFT JOIN user_tablespaces ts
    ON ts.tablespace_name = p.tablespace_name
 WHERE p.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.table_name = :name
 ORDER BY p.partition_position;
