-- Title: columns that keep a load or a build from running in parallel: LOBs, LONGs, object types
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the table worked on; :source_schema, :source_name of the one read (exact case)
-- Versions: 11.2 to 26ai
SELECT c.owner AS on_schema,
       c.table_name AS on_table,
       c.column_name AS item,
       c.data_type AS data_type,
       c.data_type_owner AS type_owner,
       l.securefile AS securefile,
       l.partitioned AS partitioned
  FROM all_tab_cols c
  LEFT JOIN all_lobs l
    ON l.owner = c.owner AND l.table_name = c.table_name AND l.column_name = c.column_name
 WHERE ((c.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')) AND c.table_name = :name)
        OR (c.owner = COALESCE(:source_schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
            AND c.table_name = :source_name))
   AND (c.data_type_owner IS NOT NULL OR c.data_type IN ('CLOB', 'NCLOB', 'BLOB', 'LONG', 'LONG RAW'));
