-- Title: The present instant
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: SQLite
SELECT unixepoch('subsec') AS born;
