-- Title: parameters of the instance that are not hidden
-- Needs: SELECT on SYS.V_$SYSTEM_PARAMETER
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT p.name AS name,
       p.value AS value
  FROM v$system_parameter p
 ORDER BY p.name;
