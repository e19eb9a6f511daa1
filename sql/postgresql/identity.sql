-- Title: Identity of a relation: oid and system identifier, comment, the transaction that created it
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: PostgreSQL 14 and later
SELECT c.oid::text || '@'
       || (SELECT d.oid::text FROM pg_catalog.pg_database d WHERE d.datname = current_database())
       || '@'
       || CASE WHEN has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')
               -- ts_stat runs its query only when it is called, so that a missing grant is no error
               THEN (SELECT t.word FROM ts_stat('SELECT array_to_tsvector(ARRAY[system_identifier::text])
                                                   FROM pg_catalog.pg_control_system()') t)
               ELSE 'unknown' END AS identity,
       obj_description(c.oid, 'pg_class'::name) AS mark,
       -- ALTER rewrites rows of the catalogue, the oldest row of the relation still tells when it was made
       (SELECT min(CASE WHEN r.full_xid > o.xid + 2147483648 THEN r.full_xid - 4294967296 ELSE r.full_xid END)
          FROM (SELECT o.xid - o.xid % 4294967296 + x.xmin::text::bigint AS full_xid
                  FROM (SELECT c.xmin UNION ALL
                        SELECT a.xmin FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid) x(xmin)) r) AS born
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 CROSS JOIN (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS xid) o
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relname = :name;
