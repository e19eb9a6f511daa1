-- Title: active sessions of others, in all databases of the cluster
-- Needs: pg_read_all_stats, or sessions of other users are hidden
-- License: none
-- Effect: reads only
-- Params: :ours (names of dbatk's runs, each between bars)
-- Versions: PostgreSQL 14 and later
-- What the user may not see has no state.
SELECT count(*) FILTER (WHERE a.backend_type = 'client backend' AND a.state IN ('active', 'fastpath function call'))
         AS active_sessions,
       count(*) FILTER (WHERE a.backend_type IS NULL AND a.usesysid IS NOT NULL) AS hidden_sessions
  FROM pg_catalog.pg_stat_activity a
 WHERE a.pid <> pg_backend_pid()
   AND a.leader_pid IS NULL
   AND strpos(:ours::text, '|' || coalesce(a.application_name, '') || '|') = 0;
