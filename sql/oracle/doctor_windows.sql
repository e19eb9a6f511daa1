-- Title: maintenance windows open now, and the automatic tasks that run in them
-- Needs: SELECT on SYS.DBA_SCHEDULER_WINDOWS, DBA_AUTOTASK_CLIENT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT 'window' AS what,
       w.window_name AS item,
       w.resource_plan AS resource_plan
  FROM dba_scheduler_windows w
 WHERE w.active = 'TRUE'
UNION ALL
SELECT 'task' AS what,
       c.client_name AS item,
       CAST(NULL AS VARCHAR2(30)) AS resource_plan
  FROM dba_autotask_client c
 WHERE c.status = 'ENABLED';
