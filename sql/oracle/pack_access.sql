-- Title: what the database says the management packs may do
-- Needs: SELECT on SYS.V_$PARAMETER
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT p.value AS pack_access
  FROM v$parameter p
 WHERE p.name = 'control_management_pack_access';
