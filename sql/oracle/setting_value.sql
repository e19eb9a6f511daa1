-- Title: the present value of a parameter in this session
-- Needs: SELECT on SYS.V_$PARAMETER
-- License: none
-- Effect: reads only
-- Params: :name
-- Versions: 11.2 to 26ai
SELECT p.value AS value
  FROM v$parameter p
 WHERE p.name = :name;
