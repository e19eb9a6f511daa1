-- Title: ordinary tables of a schema
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema (exact case)
-- Versions: 11.2 to 26ai
SELECT t.owner AS schema_name,
       t.table_name AS table_name,
       st.num_rows AS row_estimate,
       COALESCE(
         (SELECT SUM(g.bytes)
            FROM user_segments g
           WHERE g.segment_name = t.table_name
             AND t.owner = SYS_CONTEXT('USERENV', 'SESSION_USER')),
         st.blocks * ts.block_size) AS byte_count,
       t.partitioned AS partitioned,
       t.iot_type AS iot_type,
       t.cluster_name AS cluster_name,
       t.pct_free AS pct_free,
       t.compression AS compression,
       t.compress_for AS compress_for,
       t.tablespace_name AS tablespace_name
  FROM all_tables t
  LEFT JOIN all_tab_statistics st
    ON st.owner = t.owner AND st.table_name = t.table_name AND st.object_type = 'TABLE'
  LEFT JOIN user_tablespaces ts
    ON ts.tablespace_name = t.tablespace_name
 WHERE t.owner = :schema
   AND t.temporary = 'N'
   AND t.nested = 'NO'
   AND t.secondary = 'N'
   AND t.dropped = 'NO'
   AND t.iot_name IS NULL
 ORDER BY t.table_name;
