-- Title: standby databases that are fed from here, also those to which nothing is shipped now
-- Needs: SELECT on SYS.V_$ARCHIVE_DEST
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT a.dest_id AS destination_id,
       a.db_unique_name AS db_unique_name,
       a.status AS status
  FROM v$archive_dest a
 WHERE a.target IN ('STANDBY', 'REMOTE')
   AND a.status <> 'INACTIVE'
 ORDER BY a.dest_id;
