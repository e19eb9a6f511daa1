-- Title: how many tables each name means, and how many of them have another file than before
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :objects (JSON: an array of [schema or null, name]), :before (JSON: file nodes by oid)
-- Versions: PostgreSQL 14 and later
SELECT o.number,
       count(*) AS asked_count,
       count(*) FILTER (WHERE (:before::json ->> c.oid::text) IS DISTINCT FROM pg_catalog.pg_relation_filenode(c.oid)::text)
         AS done_count
  FROM json_array_elements(:objects::json) WITH ORDINALITY AS o (pair, number)
  JOIN pg_catalog.pg_namespace n ON n.nspname = coalesce(o.pair ->> 0, current_schema())
  JOIN pg_catalog.pg_class r ON r.relnamespace = n.oid AND r.relname = o.pair ->> 1
 CROSS JOIN LATERAL (SELECT r.oid AS relid
                      UNION
                     SELECT p.relid FROM pg_catalog.pg_partition_tree(r.oid) p) t
  JOIN pg_catalog.pg_class c ON c.oid = t.relid AND c.relkind IN ('r', 'm')
 GROUP BY o.number;
