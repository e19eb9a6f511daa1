-- Title: archived logs that a backup of them would name, by thread
-- Needs: SELECT on SYS.V_$ARCHIVED_LOG
-- License: none
-- Effect: reads only
-- Params: :since (minutes ago, null for all), :until (minutes ago, null for all)
-- Versions: 11.2 to 26ai
-- Which logs a range of times means: RMAN Reference, archivelogRecordSpecifier, table of ranges.
SELECT l.thread# AS thread_number,
       COUNT(*) AS log_count,
       SUM(l.blocks * l.block_size) AS byte_count,
       MIN(l.sequence#) AS first_sequence,
       MAX(l.sequence#) AS last_sequence
  FROM v$archived_log l
 WHERE l.deleted = 'NO'
   AND l.status = 'A'
   AND l.standby_dest = 'NO'
   AND (:since IS NULL OR l.next_time > SYSDATE - :since / 1440)
   AND (:until IS NULL OR l.first_time <= SYSDATE - :until / 1440)
 GROUP BY l.thread#
 ORDER BY l.thread#;
