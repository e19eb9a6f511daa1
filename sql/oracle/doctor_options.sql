-- Title: options of the installed software
-- Needs: SELECT on SYS.V_$OPTION
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT o.parameter AS parameter,
       o.value AS value
  FROM v$option o
 WHERE o.parameter IN ('Parallel execution', 'Parallel backup and recovery', 'Incremental backup and recovery',
                       'Parallel load',
                       'Online Index Build', 'Partitioning', 'Bit-mapped indexes', 'Basic Compression',
                       'Advanced Compression', 'Real Application Clusters');
