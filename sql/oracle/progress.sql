-- Title: progress of the long operations of a run
-- Needs: SELECT on SYS.V_$SESSION_LONGOPS and V_$SESSION
-- License: none
-- Effect: reads only
-- Params: :run, :seconds (since the clock began)
-- Versions: 11.2 to 26ai
-- Only what takes longer than about six seconds is listed. A parallel scan has a row for each server and granule,
-- so the rows of one operation are summed, those already done included. Channels of RMAN say its command id, which
-- holds the run's key; their aggregate row sums the input of a command up and moves as each set is complete. How much
-- will be written RMAN does not know: output has no total.
SELECT MAX(CASE WHEN l.opname LIKE 'RMAN:%' THEN 'RMAN ' || l.target_desc ELSE l.opname END) AS operation,
       MAX(CASE WHEN l.opname NOT LIKE 'RMAN:%' THEN l.target END) AS target,
       SUM(l.sofar) AS done,
       SUM(l.totalwork) AS total,
       MAX(l.units) AS unit,
       MAX(CASE WHEN l.sofar < l.totalwork THEN l.time_remaining END) AS seconds_left
  FROM v$session_longops l
  JOIN v$session s
    ON s.sid = CASE WHEN l.qcsid > 0 THEN l.qcsid ELSE l.sid END
 WHERE (s.client_identifier = :run
        OR (l.opname LIKE 'RMAN:%aggregate%'
            AND s.client_info LIKE '%DBATK_' || UPPER(REPLACE(SUBSTR(:run, 3), '-', '')) || '%'))
   AND l.totalwork > 0
   AND l.start_time - DATE '1970-01-01' >= SYSDATE - DATE '1970-01-01' - (:seconds + 1) / 86400
 GROUP BY l.sql_exec_id, l.opname
HAVING SUM(l.sofar) < SUM(l.totalwork)
 ORDER BY MAX(l.last_update_time) DESC;
