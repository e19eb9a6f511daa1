-- Title: maintenance windows open now
-- Needs: SELECT on SYS.DBA_SCHEDULER_WINDOWS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT w.window_name AS window_name,
       w.resource_plan AS resource_plan
  FROM dba_scheduler_windows w
 WHERE w.active = 'TRUE';
