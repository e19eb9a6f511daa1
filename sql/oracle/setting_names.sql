-- Title: parameters that a session or a running instance can be given
-- Needs: SELECT on V_$PARAMETER
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT p.name AS name
  FROM v$parameter p
 WHERE p.isses_modifiable = 'TRUE' OR p.issys_modifiable <> 'FALSE'
 ORDER BY p.name;
