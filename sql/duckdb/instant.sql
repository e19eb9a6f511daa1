-- Title: The current time; DuckDB objects have no creation time
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT NULL::BIGINT AS born;
