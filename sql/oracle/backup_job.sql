-- Title: what the database keeps of one job of RMAN: bytes read and written, compression, seconds
-- Needs: SELECT on SYS.V_$RMAN_BACKUP_JOB_DETAILS
-- License: none
-- Effect: reads only
-- Params: :command_id
-- Versions: 11.2 to 26ai
SELECT j.status AS status,
       j.input_type AS input_type,
       j.input_bytes AS input_bytes,
       j.output_bytes AS output_bytes,
       j.compression_ratio AS compression_ratio,
       j.elapsed_seconds AS elapsed_seconds,
       j.autobackup_done AS autobackup_done,
       j.autobackup_count AS autobackup_count
  FROM v$rman_backup_job_details j
 WHERE j.command_id = :command_id
 ORDER BY j.start_time;
