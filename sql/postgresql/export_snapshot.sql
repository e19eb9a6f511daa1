-- Title: Export the snapshot of a transaction for other sessions, with what it sees and the file of the table they read
-- Needs: none
-- License: none
-- Effect: reads only; the snapshot lasts as long as this transaction
-- Params: :schema, :name (of the table read)
-- Versions: PostgreSQL 14 and later
SELECT pg_export_snapshot() AS snapshot_id, pg_current_snapshot()::text AS snapshot,
       (SELECT pg_catalog.pg_relation_filenode(c.oid)::text FROM pg_catalog.pg_class c
          JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relname = :name) AS filenode;
