-- Title: Sessions of a run: none, a DuckDB file belongs to a single process
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :run
-- Versions: DuckDB 2.0 and later
SELECT :run AS session_id, NULL::VARCHAR AS begun, NULL::VARCHAR AS at_work,
       NULL::VARCHAR AS kill_text WHERE false;
