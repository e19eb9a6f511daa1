-- Title: what CALIBRATE_IO measured last: the most that the files of the database gave to reads
-- Needs: SELECT on SYS.DBA_RSRC_IO_CALIBRATE
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT c.max_mbps AS mbps,
       c.max_iops AS iops,
       c.num_physical_disks AS disks,
       TO_CHAR(c.end_time, 'YYYY-MM-DD HH24:MI') AS measured
  FROM dba_rsrc_io_calibrate c
 WHERE c.max_mbps > 0;
