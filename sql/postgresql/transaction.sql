-- Title: Transaction of this session, and the timeline it writes on
-- Needs: EXECUTE on pg_current_xact_id(), pg_walfile_name(pg_lsn) and pg_current_wal_insert_lsn(), which PUBLIC has by default
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT pg_current_xact_id()::text AS transaction_id,
       substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) AS timeline;
