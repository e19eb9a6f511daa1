-- Title: archived logs that a backup of them would name, by thread
-- Needs: SELECT on SYS.V_$ARCHIVED_LOG
-- License: none
-- Effect: reads only
-- Params: :since (minutes ago, null for all), :until (minutes ago, null for all)
-- Versions: 11.2 to 26ai
-- Which logs a range of times means: RMAN Reference, archivelogRecordSpecifier, table of ranges.
-- A log has one row for each destination that it was archived to, and is backed up once.
SELECT s.thread_number AS thread_number,
       COUNT(*) AS log_count,
       SUM(s.byte_count) AS byte_count,
       MIN(s.sequence_number) AS first_sequence,
       MAX(s.sequence_number) AS last_sequence
  FROM (SELECT l.thread# AS thread_number,
               l.sequence# AS sequence_number,
               MAX(l.blocks * l.block_size) AS byte_count
          FROM v$archived_log l
         WHERE l.deleted = 'NO'
           AND l.status = 'A'
           AND l.standby_dest = 'NO'
           AND (:since IS NULL OR l.next_time > SYSDATE - :since / 1440)
           AND (:until IS NULL OR l.first_time <= SYSDATE - :until / 1440)
         GROUP BY l.thread#, l.resetlogs_id, l.sequence#) s
 GROUP BY s.thread_number
 ORDER BY s.thread_number;
