-- Title: processes and sessions: used and allowed
-- Needs: SELECT on SYS.V_$RESOURCE_LIMIT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT r.resource_name AS resource_name,
       r.current_utilization AS used_count,
       TRIM(r.limit_value) AS limit_value
  FROM v$resource_limit r
 WHERE r.resource_name IN ('processes', 'sessions');
