-- Title: what sessions of users waited for between two Statspack snapshots
-- Needs: SELECT on PERFSTAT.STATS$SYSTEM_EVENT and STATS$IDLE_EVENT
-- License: none
-- Effect: reads only
-- Params: :dbid, :instance, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
-- Idle events are those that Statspack itself lists. Times are in microseconds; Statspack keeps no wait classes.
SELECT h.event AS event,
       CAST(NULL AS VARCHAR2(64)) AS wait_class,
       SUM(CASE h.snap_id WHEN :last_snap THEN h.total_waits_fg ELSE -h.total_waits_fg END) AS waits,
       SUM(CASE h.snap_id WHEN :last_snap THEN h.time_waited_micro_fg ELSE -h.time_waited_micro_fg END) / 1000000
           AS wait_seconds,
       SUM(CASE h.snap_id WHEN :last_snap THEN h.time_waited_micro ELSE -h.time_waited_micro END) / 1000000
           AS all_wait_seconds
  FROM perfstat.stats$system_event h
  LEFT JOIN perfstat.stats$idle_event i
    ON i.event = h.event
 WHERE h.dbid = :dbid
   AND h.instance_number = :instance
   AND h.snap_id IN (:first_snap, :last_snap)
   AND i.event IS NULL
 GROUP BY h.event;
