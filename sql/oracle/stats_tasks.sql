-- Title: time of each object in the latest gathering of a schema or table
-- Needs: SELECT on DBA_OPTSTAT_OPERATIONS and DBA_OPTSTAT_OPERATION_TASKS
-- License: none
-- Effect: reads only
-- Params: :operation (gather_schema_stats, gather_table_stats), :target (SCHEMA or SCHEMA.TABLE, without quotes)
-- Versions: 12.1 to 26ai
SELECT REPLACE(k.target, '"', '') AS label,
       EXTRACT(DAY FROM (SYS_EXTRACT_UTC(k.end_time) - SYS_EXTRACT_UTC(k.start_time))) * 86400
       + EXTRACT(HOUR FROM (SYS_EXTRACT_UTC(k.end_time) - SYS_EXTRACT_UTC(k.start_time))) * 3600
       + EXTRACT(MINUTE FROM (SYS_EXTRACT_UTC(k.end_time) - SYS_EXTRACT_UTC(k.start_time))) * 60
       + EXTRACT(SECOND FROM (SYS_EXTRACT_UTC(k.end_time) - SYS_EXTRACT_UTC(k.start_time))) AS elapsed_seconds,
       k.target_type AS object_type,
       k.status AS status
  FROM dba_optstat_operation_tasks k
 WHERE k.opid = (SELECT MAX(o.id)
                   FROM dba_optstat_operations o
                  WHERE o.operation = :operation
                    AND REPLACE(o.target, '"', '') = :target)
 ORDER BY k.start_time, k.target;
