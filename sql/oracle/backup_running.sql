-- Title: commands of RMAN that run now on this database
-- Needs: SELECT on SYS.V_$RMAN_STATUS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- The row of a session says RUNNING as long as the client lives; only its commands are work.
SELECT r.operation AS operation,
       r.object_type AS object_type,
       r.command_id AS command_id,
       r.status AS status,
       TO_CHAR(r.start_time, 'YYYY-MM-DD HH24:MI:SS') AS begun
  FROM v$rman_status r
 WHERE r.status LIKE 'RUNNING%'
   AND r.row_level > 0
 ORDER BY r.start_time;
