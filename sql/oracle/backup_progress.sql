-- Title: how far the channels of one session of RMAN are
-- Needs: SELECT on SYS.V_$SESSION_LONGOPS and V_$SESSION
-- License: none
-- Effect: reads only
-- Params: :command_id
-- Versions: 11.2 to 26ai
-- A channel says `id=<command id>` in its CLIENT_INFO. The aggregate rows sum the files of a command up; each
-- channel has rows of its own beside them.
SELECT l.opname AS operation,
       MAX(l.target_desc) AS target,
       SUM(l.sofar) AS done,
       SUM(l.totalwork) AS total,
       MAX(l.units) AS unit,
       MAX(l.time_remaining) AS seconds_left
  FROM v$session_longops l
  JOIN v$session s
    ON s.sid = l.sid
   AND s.serial# = l.serial#
 WHERE s.client_info LIKE '%' || :command_id || '%'
   AND l.opname LIKE 'RMAN:%aggregate%'
   AND l.totalwork > 0
   AND l.sofar < l.totalwork
 GROUP BY l.opname;
