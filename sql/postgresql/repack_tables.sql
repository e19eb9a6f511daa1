-- Title: What pg_repack needs of a table, or of those of a schema: a key, rows that are logged, nothing left behind
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name (null: every table of the schema)
-- Versions: PostgreSQL 14 and later
-- key_columns: of the index that the view repack.primary_keys would choose (JSON array); of a partitioned table null.
-- not_logged, without_key, left_behind: the first of the table and its partitions of which that is so.
-- at_work: whether a session holds the advisory lock that pg_repack takes for it (REPACK_LOCK_PREFIX_STR and the oid).
WITH named AS (
  SELECT n.nspname, c.oid, c.relname, c.relkind
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = coalesce(:schema, current_schema()) AND (:name::text IS NULL OR c.relname = :name)
     AND c.relkind IN ('r', 'p')
), leaves AS (
  SELECT m.oid AS table_oid, l.oid, l.relpersistence
    FROM named m
   CROSS JOIN LATERAL (SELECT m.oid AS relid
                        UNION
                       SELECT p.relid FROM pg_catalog.pg_partition_tree(m.oid) p) t
    JOIN pg_catalog.pg_class l ON l.oid = t.relid AND l.relkind = 'r'
), keys AS (
  SELECT DISTINCT ON (x.indrelid) x.indrelid,
         (SELECT pg_catalog.json_agg(a.attname::text ORDER BY k.place)::text
            FROM pg_catalog.unnest(x.indkey::smallint[]) WITH ORDINALITY AS k (attnum, place)
            JOIN pg_catalog.pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.attnum) AS columns
    FROM pg_catalog.pg_index x
   WHERE x.indrelid IN (SELECT oid FROM leaves) AND x.indisunique AND x.indisvalid AND x.indpred IS NULL
     AND 0::smallint <> ALL (x.indkey::smallint[])
     AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a
                      WHERE a.attrelid = x.indrelid AND a.attnum = ANY (x.indkey::smallint[]) AND NOT a.attnotnull)
   ORDER BY x.indrelid, x.indisprimary DESC, x.indnatts, x.indkey
)
SELECT m.nspname::text AS schema_name, m.relname::text AS table_name,
       CASE m.relkind WHEN 'p' THEN 'partitioned table' ELSE 'table' END AS kind,
       (SELECT k.columns FROM keys k WHERE k.indrelid = m.oid) AS key_columns,
       (SELECT min(l.oid::regclass::text) FROM leaves l
         WHERE l.table_oid = m.oid AND l.relpersistence <> 'p') AS not_logged,
       (SELECT min(l.oid::regclass::text) FROM leaves l
         WHERE l.table_oid = m.oid AND l.oid NOT IN (SELECT k.indrelid FROM keys k)) AS without_key,
       (SELECT min(l.oid::regclass::text) FROM leaves l JOIN pg_catalog.pg_trigger g ON g.tgrelid = l.oid
         WHERE l.table_oid = m.oid AND g.tgname = 'repack_trigger') AS left_behind,
       CASE WHEN EXISTS (SELECT FROM leaves l JOIN pg_catalog.pg_locks o
                             ON o.locktype = 'advisory' AND o.objsubid = 2 AND o.classid = 16185446::oid
                                AND o.objid::bigint = (l.oid::bigint + 2147483648) % 4294967296
                                AND o.database = (SELECT d.oid FROM pg_catalog.pg_database d
                                                   WHERE d.datname = current_database())
                          WHERE l.table_oid = m.oid) THEN 'yes' ELSE 'no' END AS at_work
  FROM named m;
