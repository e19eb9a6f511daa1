-- Title: what the database keeps of the commands of one session of RMAN
-- Needs: SELECT on SYS.V_$RMAN_STATUS
-- License: none
-- Effect: reads only
-- Params: :command_id
-- Versions: 11.2 to 26ai
-- A validation may be missing in V$RMAN_BACKUP_JOB_DETAILS; here it has a row.
SELECT r.operation AS operation,
       r.status AS status,
       r.object_type AS object_type,
       r.input_bytes AS input_bytes,
       r.output_bytes AS output_bytes,
       r.mbytes_processed AS megabytes,
       (r.end_time - r.start_time) * 86400 AS elapsed_seconds
  FROM v$rman_status r
 WHERE r.command_id = :command_id
   AND r.row_level > 0
 ORDER BY r.recid;
