-- Title: gatherings of statistics that are running now, before 12.1
-- Needs: SELECT on DBA_OPTSTAT_OPERATIONS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2
SELECT o.operation || ' of ' || COALESCE(o.target, 'the database') || ' has been running since '
       || TO_CHAR(SYS_EXTRACT_UTC(o.start_time), 'YYYY-MM-DD HH24:MI:SS') || ' UTC' AS reason
  FROM dba_optstat_operations o
 WHERE o.end_time IS NULL
   AND CAST(SYS_EXTRACT_UTC(o.start_time) AS DATE) > CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - 1;
