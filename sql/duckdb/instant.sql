-- Title: The present instant; DuckDB objects carry no time of birth
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT NULL::BIGINT AS born;
