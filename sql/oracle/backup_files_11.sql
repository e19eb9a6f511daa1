-- Title: data files with their size and tablespace, where there are no pluggable databases
-- Needs: SELECT on SYS.V_$DATAFILE and V_$TABLESPACE
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2
SELECT d.file# AS file_number,
       d.name AS file_name,
       d.bytes AS byte_count,
       t.name AS tablespace_name,
       t.bigfile AS bigfile,
       t.encrypt_in_backup AS encrypt_in_backup
  FROM v$datafile d
  JOIN v$tablespace t
    ON t.ts# = d.ts#
 ORDER BY d.file#;
