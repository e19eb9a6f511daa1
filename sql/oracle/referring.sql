-- Title: enabled foreign keys that refer to a table, and whether their tables are partitioned by them
-- Needs: to see the tables (ALL_ views); those of others that this user cannot see are not listed
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT c.owner AS referring_schema,
       c.table_name AS referring_table,
       c.constraint_name AS constraint_name,
       CASE WHEN EXISTS (SELECT 1
                           FROM all_part_tables t
                          WHERE t.owner = c.owner AND t.table_name = c.table_name
                            AND t.ref_ptn_constraint_name = c.constraint_name) THEN 'yes' ELSE 'no' END AS partitions
  FROM all_constraints r
  JOIN all_constraints c
    ON c.r_owner = r.owner AND c.r_constraint_name = r.constraint_name
 WHERE r.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND r.table_name = :name
   AND r.constraint_type IN ('P', 'U')
   AND c.constraint_type = 'R'
   AND c.status = 'ENABLED'
 ORDER BY c.owner, c.table_name, c.constraint_name;
