-- Title: used bytes by tablespace: backup sets omit space that was never used
-- Needs: SELECT on SYS.DBA_SEGMENTS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- In the root of a container database this covers only the root.
SELECT s.tablespace_name AS tablespace_name,
       SUM(s.bytes) AS used_bytes
  FROM dba_segments s
 GROUP BY s.tablespace_name;
