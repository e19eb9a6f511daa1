-- Title: Columns an INSERT may name (generated ones are left out)
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: PostgreSQL 14 and later
SELECT a.attname::text AS column_name, format_type(a.atttypid, a.atttypmod) AS data_type,
       CASE WHEN a.attnotnull THEN 'no' ELSE 'yes' END AS nullable,
       row_number() OVER (ORDER BY a.attnum) AS position,
       CASE a.attidentity WHEN 'a' THEN 'always' WHEN 'd' THEN 'by default' ELSE '' END AS identity,
       q.name AS sequence_name,
       -- moving it reads the column and the sequence, and sets the sequence
       CASE WHEN has_column_privilege(c.oid, a.attnum, 'SELECT') AND has_sequence_privilege(q.name, 'UPDATE')
             AND has_sequence_privilege(q.name, 'SELECT, USAGE') THEN 'yes' ELSE 'no' END AS may_move
  FROM pg_catalog.pg_attribute a
  JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 CROSS JOIN LATERAL (SELECT pg_catalog.pg_get_serial_sequence(pg_catalog.format('%I.%I', n.nspname, c.relname), a.attname) AS name) q
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relname = :name
   AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
   AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
 ORDER BY a.attnum;
