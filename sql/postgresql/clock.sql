-- Title: The database's clock
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT clock_timestamp() AS now;
