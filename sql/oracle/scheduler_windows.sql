-- Title: windows of the scheduler: those that are open, and the next opening of each of the others
-- Needs: nothing (an ALL_ view; one that shows no window proves nothing)
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- Instants are seconds since 1970 in UTC. The database knows of each window only when it opens next.
SELECT w.window_name AS window_name,
       w.resource_plan AS resource_plan,
       ROUND((CAST(SYS_EXTRACT_UTC(w.next_start_date) AS DATE) - DATE '1970-01-01') * 86400) AS begin_seconds,
       EXTRACT(DAY FROM w.duration) * 86400 + EXTRACT(HOUR FROM w.duration) * 3600
       + EXTRACT(MINUTE FROM w.duration) * 60 + EXTRACT(SECOND FROM w.duration) AS duration_seconds
  FROM all_scheduler_windows w
 WHERE w.enabled = 'TRUE'
   AND w.next_start_date IS NOT NULL
UNION ALL
SELECT w.window_name AS window_name,
       w.resource_plan AS resource_plan,
       ROUND((CAST(SYS_EXTRACT_UTC(COALESCE(w.manual_open_time, w.last_start_date)) AS DATE) - DATE '1970-01-01')
         * 86400) AS begin_seconds,
       EXTRACT(DAY FROM COALESCE(w.manual_duration, w.duration)) * 86400
       + EXTRACT(HOUR FROM COALESCE(w.manual_duration, w.duration)) * 3600
       + EXTRACT(MINUTE FROM COALESCE(w.manual_duration, w.duration)) * 60
       + EXTRACT(SECOND FROM COALESCE(w.manual_duration, w.duration)) AS duration_seconds
  FROM all_scheduler_windows w
 WHERE w.active = 'TRUE';
