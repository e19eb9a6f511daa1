-- Title: Flush the write-ahead log, so that no crash gives the id of a transaction at work to another one
-- Needs: none
-- License: none
-- Effect: writes one empty message to the write-ahead log and waits until this server has it on disk
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT set_config('synchronous_commit', 'local', true) AS waits_for,
       pg_logical_emit_message(true, 'dbatk', '')::text AS flushed_to;
