-- Title: number of full backup sets of data files, without trials of dbatk
-- Needs: SELECT on SYS.V_$BACKUP_PIECE, SYS.V_$BACKUP_DATAFILE
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- File 0 is the control file. A full backup has no level, or level 0; these count for the retention policy.
SELECT COUNT(DISTINCT p.set_stamp || '/' || p.set_count) AS set_count
  FROM v$backup_piece p
 WHERE p.deleted = 'NO'
   AND p.status = 'A'
   AND (p.tag IS NULL OR INSTR(p.tag, 'DBATK_') <> 1)
   AND EXISTS (SELECT NULL
                 FROM v$backup_datafile d
                WHERE d.set_stamp = p.set_stamp
                  AND d.set_count = p.set_count
                  AND d.file# > 0
                  AND NVL(d.incremental_level, 0) = 0);
