-- Title: whether changed blocks are tracked, which makes incremental backups of level 1 quick
-- Needs: SELECT on SYS.V_$BLOCK_CHANGE_TRACKING
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT b.status AS status,
       b.filename AS file_name,
       b.bytes AS byte_count
  FROM v$block_change_tracking b;
