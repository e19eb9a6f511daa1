-- Title: reads and writes of the channels of one session of RMAN, asynchronous ones
-- Needs: SELECT on SYS.V_$BACKUP_ASYNC_IO and V_$RMAN_STATUS
-- License: none
-- Effect: reads only
-- Params: :command_id
-- Versions: 11.2 to 26ai
-- In memory only: gone with the instance. ELAPSED_TIME counts hundredths of a second.
SELECT i.type AS io_type,
       COUNT(*) AS file_count,
       SUM(i.bytes) AS byte_count,
       SUM(i.io_count) AS io_count,
       SUM(i.long_waits) AS long_waits,
       SUM(i.elapsed_time) / 100 AS channel_seconds,
       MAX(i.effective_bytes_per_second) AS best_bytes_per_second
  FROM v$backup_async_io i
  JOIN v$rman_status r
    ON r.recid = i.rman_status_recid
   AND r.stamp = i.rman_status_stamp
 WHERE r.command_id = :command_id
 GROUP BY i.type
 ORDER BY i.type;
