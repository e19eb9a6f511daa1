-- Title: whether sessions and their parallel servers can be seen
-- Needs: SELECT on SYS.V_$PX_SESSION, SYS.V_$SESSION
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT COUNT(*) AS server_count
  FROM v$px_session p
  JOIN v$session s
    ON s.sid = p.qcsid;
