-- Title: Sessions of a run: none
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :run
-- Versions: SQLite
SELECT :run AS session_id, NULL AS begun, NULL AS kill_text WHERE 1 = 0;
