-- Title: parameters that were set, and those that affect parallel work
-- Needs: SELECT on SYS.V_$PARAMETER
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT p.name AS name,
       p.value AS value,
       -- big integers are sizes in bytes
       CASE p.type WHEN 6 THEN 'B' END AS unit
  FROM v$parameter p
 WHERE p.isdefault = 'FALSE'
    OR p.name IN ('cpu_count', 'parallel_max_servers', 'parallel_min_servers', 'parallel_degree_policy',
                  'parallel_degree_limit', 'parallel_servers_target', 'parallel_min_percent', 'parallel_force_local',
                  'parallel_threads_per_cpu', 'parallel_adaptive_multi_user', 'pga_aggregate_target',
                  'pga_aggregate_limit', 'workarea_size_policy', 'ddl_lock_timeout', 'resource_manager_plan',
                  'optimizer_ignore_hints', 'optimizer_ignore_parallel_hints', 'resumable_timeout', 'recyclebin',
                  'control_management_pack_access', 'parallel_instance_group', 'parallel_min_time_threshold',
                  'optimizer_use_pending_statistics', 'job_queue_processes', 'compatible')
 ORDER BY p.name;
