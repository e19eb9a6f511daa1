-- Title: free bytes of some tablespaces, including what their files may still grow by
-- Needs: SELECT on SYS.DBA_TABLESPACE_USAGE_METRICS and DBA_TABLESPACES
-- License: none
-- Effect: reads only
-- Params: :places (names, each between bars)
-- Versions: 11.2 to 26ai
-- Sizes are in blocks, and a file that may grow counts with the size it may have. Only what is online and takes
-- objects is of interest.
SELECT m.tablespace_name AS place,
       (m.tablespace_size - m.used_space) * t.block_size AS free_byte_count
  FROM dba_tablespace_usage_metrics m
  JOIN dba_tablespaces t
    ON t.tablespace_name = m.tablespace_name
 WHERE t.contents = 'PERMANENT'
   AND t.status = 'ONLINE'
   AND INSTR(:places, '|' || m.tablespace_name || '|') > 0
 ORDER BY m.tablespace_name;
