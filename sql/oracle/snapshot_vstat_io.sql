-- Title: bytes read and written by function (direct reads, DBWR, LGWR ...)
-- Needs: SELECT on SYS.V_$IOSTAT_FUNCTION
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- The view counts whole megabytes: coarse for short trials, where the bytes of V$SYSSTAT tell more.
SELECT 'io read ' || f.function_name AS metric_name,
       SUM(f.small_read_megabytes + f.large_read_megabytes) * 1048576 AS metric_value,
       'bytes' AS metric_unit,
       'counter' AS metric_kind
  FROM v$iostat_function f
 GROUP BY f.function_name
UNION ALL
SELECT 'io written ' || f.function_name AS metric_name,
       SUM(f.small_write_megabytes + f.large_write_megabytes) * 1048576 AS metric_value,
       'bytes' AS metric_unit,
       'counter' AS metric_kind
  FROM v$iostat_function f
 GROUP BY f.function_name
UNION ALL
SELECT 'io requests ' || f.function_name AS metric_name,
       SUM(f.small_read_reqs + f.large_read_reqs + f.small_write_reqs + f.large_write_reqs) AS metric_value,
       'count' AS metric_unit,
       'counter' AS metric_kind
  FROM v$iostat_function f
 GROUP BY f.function_name;
