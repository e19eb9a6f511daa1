-- Title: The present instant; DuckDB objects carry no time of birth
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 1.4 and later
SELECT NULL::BIGINT AS born;
