-- Title: how many tables the ANALYZE of each name means, and how many of them were analyzed since an instant
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :objects (JSON: an array of [schema or null, name]), :since
-- Versions: PostgreSQL 14 and later
-- No row where it cannot be told: track_counts is off, or the counts arrive late (before 15).
-- A foreign table among partitions is left out: its wrapper may have no ANALYZE. Its kind is a subquery, since a
-- join with the unknown number of partitions scans the whole of pg_class for each name.
SELECT o.number,
       count(*) AS asked_count,
       count(*) FILTER (WHERE pg_stat_get_last_analyze_time(t.relid) >= :since::timestamptz) AS done_count
  FROM json_array_elements(:objects::json) WITH ORDINALITY AS o (pair, number)
  JOIN pg_catalog.pg_namespace n ON n.nspname = coalesce(o.pair ->> 0, current_schema())
  JOIN pg_catalog.pg_class r ON r.relnamespace = n.oid AND r.relname = o.pair ->> 1
 CROSS JOIN LATERAL (SELECT r.oid AS relid
                      UNION
                     SELECT p.relid FROM pg_catalog.pg_partition_tree(r.oid) p) t
 WHERE (t.relid = r.oid OR (SELECT c.relkind FROM pg_catalog.pg_class c WHERE c.oid = t.relid) <> 'f')
   AND current_setting('track_counts')::boolean
   AND current_setting('server_version_num')::integer >= 150000
 GROUP BY o.number;
