-- Title: Before names are looked up: find nothing but PostgreSQL's own without a schema, keep where the session looked, compile nothing
-- Needs: none
-- License: none
-- Effect: changes settings of this session
-- Params: none
-- Versions: PostgreSQL 14 and later
-- An own function or operator that fits better than PostgreSQL's would else be called by the look that is to find it. To
-- compile the long query that follows takes seconds, to run it milliseconds.
SELECT pg_catalog.set_config('jit', 'off', false) AS jit,
       pg_catalog.set_config('search_path',
         CASE WHEN pg_catalog.set_config('dbatk.looked_in', CAST(pg_catalog.to_json(pg_catalog.current_schemas(true)) AS text),
                                         false) IS NOT NULL THEN 'pg_catalog' END, false) AS search_path;
