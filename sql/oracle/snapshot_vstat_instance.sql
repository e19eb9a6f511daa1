-- Title: since when the counters of the instance count
-- Needs: SELECT on SYS.V_$INSTANCE
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- What counts from another begin cannot be compared: after a restart the deltas of a trial are left out.
SELECT 'begin of the instance' AS metric_name,
       ROUND((i.startup_time - DATE '1970-01-01') * 86400) AS metric_value,
       'all' AS metric_unit,
       'identity' AS metric_kind
  FROM v$instance i;
