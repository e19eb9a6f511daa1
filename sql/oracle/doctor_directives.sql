-- Title: what the active resource plan allows each consumer group
-- Needs: SELECT on SYS.V_$RSRC_PLAN, DBA_RSRC_PLAN_DIRECTIVES
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT d.plan AS plan_name,
       d.group_or_subplan AS group_name,
       d.parallel_degree_limit_p1 AS degree_limit,
       d.parallel_target_percentage AS target_percentage,
       d.max_utilization_limit AS utilization_limit,
       d.switch_time AS switch_seconds,
       d.switch_group AS switch_group
  FROM dba_rsrc_plan_directives d
 WHERE d.plan IN (SELECT p.name FROM v$rsrc_plan p);
