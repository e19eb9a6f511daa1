-- Title: No settings
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: SQLite
SELECT 1 AS name, 1 AS value, 1 AS unit WHERE 1 = 0;
