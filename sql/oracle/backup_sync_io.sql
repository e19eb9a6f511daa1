-- Title: reads and writes of the channels of one session of RMAN, synchronous ones: on disk a sign of missing asynchronous I/O
-- Needs: SELECT on SYS.V_$BACKUP_SYNC_IO and V_$RMAN_STATUS
-- License: none
-- Effect: reads only
-- Params: :command_id
-- Versions: 11.2 to 26ai
SELECT i.type AS io_type,
       i.device_type AS device_type,
       COUNT(*) AS file_count,
       SUM(i.bytes) AS byte_count,
       SUM(i.io_count) AS io_count,
       MAX(i.discrete_bytes_per_second) AS best_bytes_per_second
  FROM v$backup_sync_io i
  JOIN v$rman_status r
    ON r.recid = i.rman_status_recid
   AND r.stamp = i.rman_status_stamp
 WHERE r.command_id = :command_id
 GROUP BY i.type, i.device_type
 ORDER BY i.type;
