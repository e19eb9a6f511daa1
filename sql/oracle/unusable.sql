-- Title: How many indexes of a table, or parts of them, are unusable
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the table (exact case)
-- Versions: 11.2 to 26ai
SELECT 1 AS "number",
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
           WHERE i.table_owner = :schema AND i.table_name = :name AND p.status = 'UNUSABLE') AS unusable_count
  FROM dual;
