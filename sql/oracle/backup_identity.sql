-- Title: whether the pieces that bear a tag of ours are ours: by the name we gave each of them
-- Needs: SELECT on SYS.V_$BACKUP_PIECE
-- License: none
-- Effect: reads only
-- Params: :tag (ours: it stands in the name of every piece too)
-- Versions: 11.2 to 26ai
-- Another's pieces under our tag make another identity, and then nothing is deleted. On a disk group of ASM the
-- name of a file is Oracle's own and holds the tag in lower case.
SELECT CASE WHEN SUM(CASE WHEN INSTR(UPPER(p.handle), p.tag) > 0 THEN 0 ELSE 1 END) = 0
            THEN MIN(p.tag)
            ELSE 'pieces of others bear this tag too'
       END AS identity,
       MIN(p.tag) AS mark,
       CAST(NULL AS NUMBER) AS born
  FROM v$backup_piece p
 WHERE p.tag = :tag
   AND p.deleted = 'NO'
HAVING COUNT(*) > 0;
