-- Title: how many tables an ANALYZE of one name means, and how many of them were analyzed since an instant
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name, :since
-- Versions: PostgreSQL 14 and later
-- Zero tables where it cannot be told: track_counts is off, or the counts arrive late (before 15).
-- A foreign table among partitions is left out: its wrapper may have no ANALYZE.
SELECT count(*) AS asked_count,
       count(*) FILTER (WHERE pg_stat_get_last_analyze_time(t.relid) >= :since::timestamptz) AS done_count
  FROM pg_catalog.pg_class r
  JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace
 CROSS JOIN LATERAL (SELECT r.oid AS relid
                      UNION
                     SELECT p.relid FROM pg_partition_tree(r.oid) p) t
  JOIN pg_catalog.pg_class c ON c.oid = t.relid
 WHERE n.nspname = coalesce(:schema, current_schema()) AND r.relname = :name
   AND (c.relkind <> 'f' OR c.oid = r.oid)
   AND current_setting('track_counts')::boolean
   AND current_setting('server_version_num')::integer >= 150000;
