-- Title: the recovery area: where it is, how big, how full
-- Needs: SELECT on SYS.V_$RECOVERY_FILE_DEST
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT f.name AS place,
       f.space_limit AS limit_bytes,
       f.space_used AS used_bytes,
       f.space_reclaimable AS reclaimable_bytes,
       f.number_of_files AS file_count
  FROM v$recovery_file_dest f;
