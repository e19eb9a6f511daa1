-- Title: materialized views of a schema, with the size of the table behind each
-- Needs: to see the materialized views (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema (exact case)
-- Versions: 11.2 to 26ai
SELECT v.owner AS schema_name,
       v.mview_name AS table_name,
       st.num_rows AS row_estimate,
       COALESCE(
         (SELECT SUM(g.bytes)
            FROM user_segments g
           WHERE g.segment_name = v.container_name
             AND v.owner = SYS_CONTEXT('USERENV', 'SESSION_USER')),
         st.blocks * ts.block_size) AS byte_count,
       t.tablespace_name AS tablespace_name
  FROM all_mviews v
  LEFT JOIN all_tables t
    ON t.owner = v.owner AND t.table_name = v.container_name
  LEFT JOIN all_tab_statistics st
    ON st.owner = v.owner AND st.table_name = v.container_name AND st.object_type = 'TABLE'
  LEFT JOIN user_tablespaces ts
    ON ts.tablespace_name = t.tablespace_name
 WHERE v.owner = :schema
 ORDER BY v.mview_name;
