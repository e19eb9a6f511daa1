-- Title: The next transaction number
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS born;
