-- Title: what each part of the server read and wrote
-- Needs: SELECT on SYS.V_$IOSTAT_FUNCTION
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- Whole megabytes only; WAIT_TIME is in milliseconds.
SELECT f.function_name AS function_name,
       SUM(f.small_read_megabytes + f.large_read_megabytes) * 1048576 AS read_bytes,
       SUM(f.small_write_megabytes + f.large_write_megabytes) * 1048576 AS write_bytes,
       SUM(f.small_read_reqs + f.large_read_reqs) AS read_requests,
       SUM(f.small_write_reqs + f.large_write_reqs) AS write_requests,
       SUM(f.number_of_waits) AS waits,
       SUM(f.wait_time) / 1000 AS wait_seconds
  FROM v$iostat_function f
 GROUP BY f.function_name;
