-- Title: Transaction of this session, and the timeline it writes on
-- Needs: EXECUTE on pg_current_xact_id_if_assigned(), pg_walfile_name(pg_lsn) and pg_current_wal_insert_lsn(), which PUBLIC has by default
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
-- None is given where nothing was changed: the id of a transaction of this query's own would tell that it was committed.
SELECT pg_current_xact_id_if_assigned()::text AS transaction_id,
       substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) AS timeline;
