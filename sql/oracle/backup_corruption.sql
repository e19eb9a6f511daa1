-- Title: blocks that are listed as corrupt: a validation may add to them
-- Needs: SELECT on SYS.V_$DATABASE_BLOCK_CORRUPTION
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT COUNT(*) AS entry_count,
       COALESCE(SUM(c.blocks), 0) AS block_count
  FROM v$database_block_corruption c;
