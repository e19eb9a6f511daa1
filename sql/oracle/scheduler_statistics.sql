-- Title: windows of the scheduler in which automatic tasks gather statistics
-- Needs: SELECT on SYS.DBA_AUTOTASK_WINDOW_CLIENTS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT c.window_name AS window_name
  FROM dba_autotask_window_clients c
 WHERE c.autotask_status = 'ENABLED'
   AND c.optimizer_stats = 'ENABLED';
