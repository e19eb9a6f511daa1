-- Title: Whether a transaction was committed
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :transaction_id, :timeline
-- Versions: PostgreSQL 14 and later
-- On another timeline (a standby that took over, a restored backup) the id may be that of another transaction.
SELECT CASE WHEN pg_is_in_recovery() THEN NULL
            WHEN substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) <> :timeline THEN NULL
            ELSE pg_xact_status(:transaction_id::xid8) END AS transaction_state;
