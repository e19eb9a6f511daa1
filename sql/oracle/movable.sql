-- Title: What stands in the way of moving a table, or those of a schema
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case; without a name all of the schema)
-- Versions: 11.2 to 26ai
SELECT t.owner AS schema_name,
       t.table_name AS table_name,
       t.iot_type AS iot_type,
       t.nested AS nested,
       t.cluster_name AS cluster_name,
       t.temporary AS temporary,
       t.partitioned AS partitioned,
       TRIM(t.degree) || CASE WHEN COALESCE(TRIM(t.instances), '1') IN ('0', '1')
              OR TRIM(t.degree) || TRIM(t.instances) = 'DEFAULTDEFAULT' THEN ''
            ELSE ' INSTANCES ' || TRIM(t.instances) END AS degree,
       t.logging AS logging,
       p.partitioning_type AS partitioning_type,
       p.subpartitioning_type AS subpartitioning_type,
       (SELECT COUNT(*)
          FROM all_tab_cols c
         WHERE c.owner = t.owner AND c.table_name = t.table_name
           AND c.data_type IN ('LONG', 'LONG RAW')) AS long_count,
       (SELECT COUNT(*)
          FROM all_tab_cols c
         WHERE c.owner = t.owner AND c.table_name = t.table_name
           AND c.data_type_owner IS NOT NULL) AS object_count,
       (SELECT COUNT(*)
          FROM all_lobs l
         WHERE l.owner = t.owner AND l.table_name = t.table_name) AS lob_count,
       (SELECT COUNT(*)
          FROM all_indexes i
         WHERE i.table_owner = t.owner AND i.table_name = t.table_name
           AND i.index_type LIKE '%DOMAIN%') AS domain_index_count,
       (SELECT COUNT(*)
          FROM all_indexes i
         WHERE i.table_owner = t.owner AND i.table_name = t.table_name
           AND i.join_index = 'YES') AS join_index_count,
       (SELECT COUNT(*)
          FROM all_external_tables x
         WHERE x.owner = t.owner AND x.table_name = t.table_name) AS external_count
  FROM all_tables t
  LEFT JOIN all_part_tables p
    ON p.owner = t.owner AND p.table_name = t.table_name
 WHERE t.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND (:name IS NULL OR t.table_name = :name);
