-- Title: whether the optimizer of this session would use pending statistics
-- Needs: SELECT on V_$PARAMETER
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT p.value AS uses_pending
  FROM v$parameter p
 WHERE p.name = 'optimizer_use_pending_statistics';
