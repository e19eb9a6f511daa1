-- Title: where archived redo goes, and what is free in the recovery area, including what is reclaimable
-- Needs: SELECT on SYS.V_$RECOVERY_FILE_DEST and V_$ARCHIVE_DEST
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- One row per destination on this server; USE_DB_RECOVERY_FILE_DEST is the recovery area, whose limit is 0 where there is none.
SELECT 'area' AS place_kind,
       f.name AS place,
       f.space_limit AS limit_bytes,
       f.space_limit - f.space_used + f.space_reclaimable AS free_bytes
  FROM v$recovery_file_dest f
 WHERE f.space_limit > 0
UNION ALL
SELECT 'destination',
       a.destination,
       NULL,
       NULL
  FROM v$archive_dest a
 WHERE a.target IN ('PRIMARY', 'LOCAL')
   AND a.status = 'VALID';
