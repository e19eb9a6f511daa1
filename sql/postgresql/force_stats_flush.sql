-- Title: Make this session report its statistics as soon as this statement ends
-- Needs: none
-- License: none
-- Effect: reads only (statistics of this session are reported at once)
-- Params: none
-- Versions: PostgreSQL 15 and later
SELECT pg_stat_force_next_flush()::text AS flushed;
