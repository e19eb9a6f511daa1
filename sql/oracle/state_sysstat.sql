-- Title: every counter of the instance
-- Needs: SELECT on SYS.V_$SYSSTAT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- STATISTIC# differs between releases, so names are kept. What is so large now is no counter and left out.
SELECT s.name AS statistic_name,
       s.value AS total
  FROM v$sysstat s
 WHERE s.value <> 0
   AND s.name NOT IN ('logons current', 'opened cursors current', 'workarea memory allocated',
                      'session pga memory', 'session pga memory max', 'session uga memory',
                      'session uga memory max', 'session connect time', 'process last non-idle time')
 ORDER BY s.name;
