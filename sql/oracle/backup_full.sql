-- Title: whether there is a full backup set or image copy of a data file that counts for the retention policy
-- Needs: SELECT on SYS.V_$BACKUP_PIECE, SYS.V_$BACKUP_DATAFILE, SYS.V_$BACKUP_SET, SYS.V_$DATAFILE_COPY
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- Without trials of dbatk. File 0 is the control file. A full backup has no level, or level 0; one with KEEP counts
-- for no retention policy and becomes obsolete by none.
SELECT CASE WHEN EXISTS (SELECT NULL
          FROM v$backup_piece p
         WHERE p.deleted = 'NO'
           AND p.status = 'A'
           AND (p.tag IS NULL OR INSTR(p.tag, 'DBATK_') <> 1)
           AND NOT EXISTS (SELECT NULL
                             FROM v$backup_set s
                            WHERE s.set_stamp = p.set_stamp
                              AND s.set_count = p.set_count
                              AND s.keep = 'YES')
           AND EXISTS (SELECT NULL
                         FROM v$backup_datafile d
                        WHERE d.set_stamp = p.set_stamp
                          AND d.set_count = p.set_count
                          AND d.file# > 0
                          AND NVL(d.incremental_level, 0) = 0))
       OR EXISTS (SELECT NULL
            FROM v$datafile_copy c
           WHERE c.deleted = 'NO'
             AND c.status = 'A'
             AND NVL(c.keep, 'NO') <> 'YES'
             AND (c.tag IS NULL OR INSTR(c.tag, 'DBATK_') <> 1)
             AND c.file# > 0
             AND NVL(c.incremental_level, 0) = 0)
            THEN 'yes' ELSE 'no' END AS full_backup
  FROM dual;
