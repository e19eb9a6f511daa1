-- Title: constraints of a table that are enforced
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
-- SEARCH_CONDITION is a LONG: it can be fetched, but not be compared.
SELECT c.constraint_name AS constraint_name,
       c.constraint_type AS constraint_type,
       c.delete_rule AS delete_rule,
       c.deferrable AS deferrable,
       c.deferred AS deferred,
       c.index_name AS enforcing_index,
       (SELECT LISTAGG('"' || k.column_name || '"', ', ') WITHIN GROUP (ORDER BY k.position)
          FROM all_cons_columns k
         WHERE k.owner = c.owner AND k.constraint_name = c.constraint_name) AS column_list,
       c.search_condition AS condition_text
  FROM all_constraints c
 WHERE c.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND c.table_name = :name
   AND c.constraint_type IN ('P', 'U', 'C', 'R')
   AND c.status = 'ENABLED'
 ORDER BY c.constraint_type, c.constraint_name;
