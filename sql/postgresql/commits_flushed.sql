-- Title: Put on disk what other transactions have committed without waiting for it
-- Needs: none
-- License: none
-- Effect: writes an empty message to the write-ahead log, and waits for the log up to there as a commit does
-- Params: none
-- Versions: PostgreSQL 14 and later
-- The commit of a transaction that wrote anything waits for all of the log before it (xact.c, RecordTransactionCommit).
SELECT pg_catalog.pg_logical_emit_message(true, 'dbatk'::text, ''::text)::text AS position;
