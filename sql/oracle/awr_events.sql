-- Title: what sessions of users waited for between two AWR snapshots
-- Needs: SELECT on SYS.DBA_HIST_SYSTEM_EVENT
-- License: Diagnostics Pack
-- Effect: reads only
-- Params: :dbid, :instance, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
-- An event that came up within the interval has no row at its begin. Times are in microseconds.
SELECT h.event_name AS event,
       h.wait_class AS wait_class,
       SUM(CASE h.snap_id WHEN :last_snap THEN h.total_waits_fg ELSE -h.total_waits_fg END) AS waits,
       SUM(CASE h.snap_id WHEN :last_snap THEN h.time_waited_micro_fg ELSE -h.time_waited_micro_fg END) / 1000000
           AS wait_seconds,
       SUM(CASE h.snap_id WHEN :last_snap THEN h.time_waited_micro ELSE -h.time_waited_micro END) / 1000000
           AS all_wait_seconds
  FROM dba_hist_system_event h
 WHERE h.dbid = :dbid
   AND h.instance_number = :instance
   AND h.snap_id IN (:first_snap, :last_snap)
   AND h.wait_class <> 'Idle'
 GROUP BY h.event_name, h.wait_class;
