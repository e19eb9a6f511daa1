-- Title: the named tables: kind, degree, partitions, and what a name resolves to
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the table worked on; :source_schema, :source_name of the one read (exact case)
-- Versions: 11.2 to 26ai
SELECT t.owner AS on_schema,
       t.table_name AS on_table,
       TRIM(t.degree) AS degree,
       t.temporary AS temporary,
       t.iot_type AS iot_type,
       t.cluster_name AS cluster_name,
       t.nested AS nested,
       t.partitioned AS partitioned,
       t.logging AS logging,
       p.partition_count AS partition_count,
       p.interval AS partition_interval
  FROM all_tables t
  LEFT JOIN all_part_tables p
    ON p.owner = t.owner AND p.table_name = t.table_name
 WHERE (t.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')) AND t.table_name = :name)
    OR (t.owner = COALESCE(:source_schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
        AND t.table_name = :source_name);
