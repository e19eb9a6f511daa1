-- Title: Current activity of the sessions of a run: parallel workers, who works, waits by class, active sessions of others
-- Needs: none for one's own sessions; pg_read_all_stats to count those of others
-- License: none
-- Effect: reads only
-- Params: :run (the run's id, which is the application_name of its sessions)
-- Versions: PostgreSQL 14 and later
WITH activity AS (
  SELECT a.pid, a.leader_pid, a.state, a.wait_event_type, a.wait_event, a.backend_type,
         a.application_name = :run AS ours
    FROM pg_catalog.pg_stat_activity a
   WHERE a.pid <> pg_backend_pid()
), ours AS (
  SELECT a.pid, a.leader_pid,
         CASE WHEN a.wait_event ILIKE 'wal%' OR a.wait_event = 'SyncRep' THEN 'log'
              ELSE lower(coalesce(a.wait_event_type, 'not')) END AS waiting
    FROM activity a
   WHERE a.state = 'active'
     AND (a.ours OR a.leader_pid IN (SELECT l.pid FROM activity l WHERE l.ours))
), teams AS (
  SELECT count(*) AS workers FROM ours WHERE leader_pid IS NOT NULL GROUP BY leader_pid
)
SELECT 'parallel_workers' AS metric_name, coalesce(max(workers), 0)::bigint AS metric_value FROM teams
 UNION ALL
SELECT 'parallel_workers_total', coalesce(sum(workers), 0)::bigint FROM teams
 UNION ALL
SELECT 'active_sessions', count(*) FROM ours WHERE leader_pid IS NULL
 UNION ALL
SELECT 'other_active_sessions', count(*) FROM activity
 WHERE state = 'active' AND backend_type = 'client backend' AND ours IS NOT TRUE
 UNION ALL
SELECT 'working_leaders', count(*) FROM ours WHERE leader_pid IS NULL AND waiting IN ('not', 'io')
 UNION ALL
SELECT 'working_workers', count(*) FROM ours WHERE leader_pid IS NOT NULL AND waiting IN ('not', 'io')
 UNION ALL
SELECT 'waiting_' || waiting, count(*) FROM ours GROUP BY waiting;
