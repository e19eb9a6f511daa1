-- Title: Sessions of a run: none, a DuckDB file belongs to one process
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :run
-- Versions: DuckDB 2.0 and later
SELECT :run AS session_id, NULL::VARCHAR AS begun, NULL::VARCHAR AS kill_text WHERE false;
