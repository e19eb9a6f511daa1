-- Title: triggers, foreign keys, policies, log groups and view logs of the named tables
-- Needs: to see the tables (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name of the table worked on; :source_schema, :source_name of the one read (exact case)
-- Versions: 11.2 to 26ai
SELECT 'trigger' AS what,
       t.table_owner AS on_schema,
       t.table_name AS on_table,
       t.trigger_name AS item,
       t.triggering_event AS detail
  FROM all_triggers t
 WHERE t.status = 'ENABLED'
   AND ((t.table_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')) AND t.table_name = :name)
        OR (t.table_owner = COALESCE(:source_schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
            AND t.table_name = :source_name))
UNION ALL
SELECT CASE WHEN c.constraint_type <> 'R' THEN 'deferred constraint'
            WHEN r.table_name = c.table_name AND r.owner = c.owner THEN 'self reference'
            WHEN c.delete_rule <> 'NO ACTION' THEN 'cascade'
            ELSE 'foreign key'
       END AS what,
       c.owner AS on_schema,
       c.table_name AS on_table,
       c.constraint_name AS item,
       c.delete_rule AS detail
  FROM all_constraints c
  LEFT JOIN all_constraints r
    ON r.owner = c.r_owner AND r.constraint_name = c.r_constraint_name
 WHERE c.status = 'ENABLED'
   AND (c.constraint_type = 'R' OR c.deferred = 'DEFERRED')
   AND c.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND c.table_name = :name
UNION ALL
SELECT 'policy' AS what,
       p.object_owner AS on_schema,
       p.object_name AS on_table,
       p.policy_name AS item,
       p.ins AS detail
  FROM all_policies p
 WHERE p.enable = 'YES'
   AND ((p.object_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')) AND p.object_name = :name)
        OR (p.object_owner = COALESCE(:source_schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
            AND p.object_name = :source_name))
UNION ALL
SELECT 'log group' AS what,
       g.owner AS on_schema,
       g.table_name AS on_table,
       g.log_group_name AS item,
       g.log_group_type AS detail
  FROM all_log_groups g
 WHERE g.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND g.table_name = :name
UNION ALL
SELECT 'view log' AS what,
       v.log_owner AS on_schema,
       v.master AS on_table,
       v.log_table AS item,
       CAST(NULL AS VARCHAR2(30)) AS detail
  FROM all_mview_logs v
 WHERE v.log_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND v.master = :name;
