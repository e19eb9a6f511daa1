-- Title: free bytes of the recovery area, including what is reclaimable
-- Needs: SELECT on SYS.V_$RECOVERY_FILE_DEST
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- Without a recovery area its limit is 0.
SELECT f.name AS place,
       f.space_limit - f.space_used + f.space_reclaimable AS free_byte_count
  FROM v$recovery_file_dest f
 WHERE f.space_limit > 0;
