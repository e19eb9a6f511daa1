-- Title: sessions and open cursors at this instant
-- Needs: SELECT on SYS.V_$SYSSTAT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT s.name AS metric_name,
       s.value AS metric_value,
       'count' AS metric_unit,
       'gauge' AS metric_kind
  FROM v$sysstat s
 WHERE s.name IN ('logons current', 'opened cursors current');
