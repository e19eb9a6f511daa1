-- Title: what an online redefinition of a table takes along, loses or cannot have
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT (SELECT MAX(o.object_id)
          FROM all_objects o
         WHERE o.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
           AND o.object_name = :name
           AND o.object_type = 'TABLE'
           AND o.subobject_name IS NULL) AS object_id,
       (SELECT COUNT(*)
          FROM all_mview_logs v
         WHERE v.log_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
           AND v.master = :name) AS view_log_count,
       (SELECT COUNT(*)
          FROM all_mviews m
         WHERE m.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
           AND m.container_name = :name) AS container_count,
       (SELECT COUNT(*)
          FROM all_policies p
         WHERE p.object_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
           AND p.object_name = :name
           AND p.enable = 'YES') AS policy_count,
       (SELECT COUNT(*)
          FROM all_tab_cols c
         WHERE c.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
           AND c.table_name = :name
           AND c.hidden_column = 'NO'
           AND c.virtual_column = 'YES') AS virtual_count,
       (SELECT COUNT(*)
          FROM all_encrypted_columns e
         WHERE e.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
           AND e.table_name = :name) AS encrypted_count,
       (SELECT COUNT(*)
          FROM all_triggers t
         WHERE t.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
           AND t.table_name = :name) AS trigger_count,
       (SELECT COUNT(*)
          FROM all_log_groups g
         WHERE g.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
           AND g.table_name = :name) AS log_group_count,
       (SELECT COUNT(*)
          FROM all_indexes i
         WHERE i.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
           AND i.table_name = :name
           AND i.index_type LIKE 'FUNCTION-BASED%') AS expression_index_count,
       (SELECT COUNT(*)
          FROM all_constraints r
          JOIN all_constraints k
            ON k.owner = r.r_owner AND k.constraint_name = r.r_constraint_name
         WHERE r.constraint_type = 'R'
           AND k.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
           AND k.table_name = :name) AS referring_count
  FROM dual;
