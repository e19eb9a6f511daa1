-- Title: indexes of the table worked on that keep a load or a build serial
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the table worked on (exact case)
-- Versions: 11.2 to 26ai
SELECT i.table_owner AS on_schema,
       i.table_name AS on_table,
       i.index_name AS item,
       i.index_type AS index_kind,
       i.partitioned AS index_partitioned,
       i.status AS index_status,
       TRIM(i.degree) AS index_degree,
       p.partition_count AS partition_count
  FROM all_indexes i
  LEFT JOIN all_part_indexes p
    ON p.owner = i.owner AND p.index_name = i.index_name
 WHERE i.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND i.table_name = :name;
