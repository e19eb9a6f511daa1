-- Title: Columns of the key that identifies the rows of a table: the primary key, else a unique index without nulls
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: PostgreSQL 14 and later
SELECT a.attname::text AS column_name, format_type(a.atttypid, a.atttypmod) AS data_type, k.key_name
  FROM (SELECT x.indrelid, x.indkey, x.indnkeyatts, i.relname::text AS key_name
          FROM pg_catalog.pg_index x
          JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
          JOIN pg_catalog.pg_class c ON c.oid = x.indrelid
          JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relname = :name AND c.relkind IN ('r', 'p')
           AND x.indisunique AND x.indisvalid AND x.indimmediate AND x.indpred IS NULL AND x.indexprs IS NULL
           AND NOT EXISTS (SELECT FROM generate_series(0, x.indnkeyatts - 1) AS p(number)
                             JOIN pg_catalog.pg_attribute b
                               ON b.attrelid = x.indrelid AND b.attnum = x.indkey[p.number] AND NOT b.attnotnull)
         ORDER BY NOT x.indisprimary, x.indnkeyatts, i.relname
         LIMIT 1) k
 CROSS JOIN LATERAL generate_series(0, k.indnkeyatts - 1) AS p(number)
  JOIN pg_catalog.pg_attribute a ON a.attrelid = k.indrelid AND a.attnum = k.indkey[p.number]
 ORDER BY p.number;
