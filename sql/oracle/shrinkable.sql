-- Title: What stands in the way of shrinking a table, or those of a schema
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case; without a name all of the schema)
-- Versions: 11.2 to 26ai
-- USER_TABLESPACES shows the tablespaces in which the user may have objects; how another one manages the free space
-- of its segments is not known here.
SELECT t.owner AS schema_name,
       t.table_name AS table_name,
       t.iot_type AS iot_type,
       t.nested AS nested,
       t.cluster_name AS cluster_name,
       t.temporary AS temporary,
       t.partitioned AS partitioned,
       t.row_movement AS row_movement,
       t.compression AS compression,
       t.compress_for AS compress_for,
       t.tablespace_name AS tablespace_name,
       (SELECT ts.segment_space_management
          FROM user_tablespaces ts
         WHERE ts.tablespace_name = t.tablespace_name) AS segment_management,
       (SELECT COUNT(*)
          FROM all_tab_cols c
         WHERE c.owner = t.owner AND c.table_name = t.table_name
           AND c.data_type IN ('LONG', 'LONG RAW')) AS long_count,
       (SELECT COUNT(*)
          FROM all_lobs l
         WHERE l.owner = t.owner AND l.table_name = t.table_name) AS lob_count,
       (SELECT MIN(i.index_name)
          FROM all_indexes i
         WHERE i.table_owner = t.owner AND i.table_name = t.table_name
           AND (i.index_type LIKE 'FUNCTION-BASED%' OR i.index_type LIKE '%DOMAIN%' OR i.join_index = 'YES'))
         AS hindering_index,
       (SELECT COUNT(*)
          FROM all_external_tables x
         WHERE x.owner = t.owner AND x.table_name = t.table_name) AS external_count,
       (SELECT MIN(v.owner || '.' || v.mview_name)
          FROM all_mview_detail_relations d
          JOIN all_mviews v
            ON v.owner = d.owner AND v.mview_name = d.mview_name
         WHERE d.detailobj_owner = t.owner AND d.detailobj_name = t.table_name
           AND v.refresh_mode = 'COMMIT') AS commit_view
  FROM all_tables t
 WHERE t.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND (:name IS NULL OR t.table_name = :name);
