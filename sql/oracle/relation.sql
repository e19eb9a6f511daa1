-- Title: a table or view, its size by the statistics and its attributes
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT o.owner AS schema_name,
       o.object_name AS table_name,
       LOWER(o.object_type) AS kind,
       st.num_rows AS row_estimate,
       COALESCE(
         (SELECT SUM(g.bytes)
            FROM user_segments g
           WHERE g.segment_name = o.object_name
             AND o.owner = SYS_CONTEXT('USERENV', 'SESSION_USER')),
         st.blocks * ts.block_size) AS byte_count,
       t.logging AS logging,
       TRIM(t.degree) || CASE WHEN COALESCE(TRIM(t.instances), '1') IN ('0', '1')
              OR TRIM(t.degree) || TRIM(t.instances) = 'DEFAULTDEFAULT' THEN ''
            ELSE ' INSTANCES ' || TRIM(t.instances) END AS degree,
       t.partitioned AS partitioned,
       t.temporary AS temporary,
       t.iot_type AS iot_type,
       t.cluster_name AS cluster_name,
       t.pct_free AS pct_free,
       t.compression AS compression,
       t.compress_for AS compress_for,
       t.tablespace_name AS tablespace_name
  FROM all_objects o
  LEFT JOIN all_tables t
    ON t.owner = o.owner AND t.table_name = o.object_name
  LEFT JOIN all_tab_statistics st
    ON st.owner = o.owner AND st.table_name = o.object_name AND st.object_type = 'TABLE'
  LEFT JOIN user_tablespaces ts
    ON ts.tablespace_name = t.tablespace_name
 WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND o.object_name = :name
   AND o.object_type IN ('TABLE', 'VIEW')
   AND o.subobject_name IS NULL;
