-- Title: constraints of a table, or of those of a schema, that are not validated
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case; without a name all of the schema)
-- Versions: 11.2 to 26ai
-- In the recycle bin nothing is validated. A constraint that is disabled and validated keeps its table from changes.
SELECT c.owner AS schema_name,
       c.table_name AS table_name,
       c.constraint_name AS constraint_name,
       c.constraint_type AS constraint_type,
       c.status AS status,
       TRIM(t.degree) || CASE WHEN COALESCE(TRIM(t.instances), '1') IN ('0', '1')
              OR TRIM(t.degree) || TRIM(t.instances) = 'DEFAULTDEFAULT' THEN ''
            ELSE ' INSTANCES ' || TRIM(t.instances) END AS degree
  FROM all_constraints c
  JOIN all_tables t
    ON t.owner = c.owner AND t.table_name = c.table_name AND t.dropped = 'NO'
 WHERE c.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND (:name IS NULL OR c.table_name = :name)
   AND c.constraint_type IN ('P', 'U', 'C', 'R')
   AND c.validated = 'NOT VALIDATED'
 ORDER BY c.table_name, c.constraint_name;
