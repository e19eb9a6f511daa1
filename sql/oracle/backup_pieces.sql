-- Title: remaining pieces of one backup, by its tag
-- Needs: SELECT on SYS.V_$BACKUP_PIECE
-- License: none
-- Effect: reads only
-- Params: :tag (upper case: so RMAN keeps it)
-- Versions: 11.2 to 26ai
SELECT p.handle AS handle,
       p.tag AS tag,
       p.bytes AS byte_count,
       p.piece# AS piece_number,
       p.set_stamp AS set_stamp,
       p.set_count AS set_count,
       p.elapsed_seconds AS elapsed_seconds,
       p.compressed AS compressed,
       p.status AS status
  FROM v$backup_piece p
 WHERE p.tag = :tag
   AND p.deleted = 'NO'
 ORDER BY p.set_stamp, p.set_count, p.piece#;
