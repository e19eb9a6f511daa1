-- Title: data files left in backup mode (BEGIN BACKUP)
-- Needs: SELECT on SYS.V_$BACKUP
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT COUNT(*) AS file_count
  FROM v$backup b
 WHERE b.status = 'ACTIVE';
