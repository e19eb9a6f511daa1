-- Title: where the sessions of a run spend their time
-- Needs: SELECT on SYS.V_$SESS_TIME_MODEL and V_$SESSION
-- License: none
-- Effect: reads only
-- Params: :run
-- Versions: 11.2 to 26ai
-- VALUE is in microseconds. The time of parallel servers may not be in it.
SELECT t.stat_name || ' (session)' AS metric_name,
       SUM(t.value) / 1000000 AS metric_value,
       'seconds' AS metric_unit,
       'counter' AS metric_kind
  FROM v$sess_time_model t
  JOIN v$session s
    ON s.sid = t.sid
 WHERE s.client_identifier = :run
   AND s.sid <> TO_NUMBER(SYS_CONTEXT('USERENV', 'SID'))
   AND COALESCE(s.program, '-') NOT LIKE '%(P___)%'
   AND t.stat_name IN ('DB time', 'DB CPU', 'sql execute elapsed time', 'parse time elapsed')
 GROUP BY t.stat_name;
