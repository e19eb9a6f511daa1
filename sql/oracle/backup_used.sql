-- Title: bytes in use by tablespace: what a backup set reads of never-used space it leaves out
-- Needs: SELECT on SYS.DBA_SEGMENTS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- In the root of a container database this speaks of the root alone.
SELECT s.tablespace_name AS tablespace_name,
       SUM(s.bytes) AS used_bytes
  FROM dba_segments s
 GROUP BY s.tablespace_name;
