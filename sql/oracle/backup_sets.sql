-- Title: backup sets of one session of RMAN: bytes in and out, compression, seconds of each
-- Needs: SELECT on SYS.V_$BACKUP_SET_DETAILS and V_$RMAN_BACKUP_JOB_DETAILS
-- License: none
-- Effect: reads only
-- Params: :command_id
-- Versions: 11.2 to 26ai
-- A set has no name of a command; the job it belongs to has. COMPRESSION_RATIO is left out: by the Database
-- Reference it compares the blocks of the files with those backed up, and is no measure of compression.
SELECT s.set_stamp AS set_stamp,
       s.set_count AS set_count,
       s.backup_type AS backup_type,
       s.incremental_level AS incremental_level,
       s.controlfile_included AS controlfile_included,
       s.pieces AS piece_count,
       s.compressed AS compressed,
       s.original_input_bytes AS input_bytes,
       s.output_bytes AS output_bytes,
       s.elapsed_seconds AS elapsed_seconds
  FROM v$backup_set_details s
  JOIN v$rman_backup_job_details j
    ON j.session_recid = s.session_recid
   AND j.session_stamp = s.session_stamp
 WHERE j.command_id = :command_id
 ORDER BY s.set_stamp, s.set_count;
