-- Title: data files with their size, tablespace and pluggable database
-- Needs: SELECT on SYS.V_$DATAFILE, V_$TABLESPACE and V_$PDBS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 12.1 to 26ai
SELECT d.file# AS file_number,
       d.name AS file_name,
       d.bytes AS byte_count,
       t.name AS tablespace_name,
       t.bigfile AS bigfile,
       t.encrypt_in_backup AS encrypt_in_backup,
       p.name AS pdb_name
  FROM v$datafile d
  JOIN v$tablespace t
    ON t.ts# = d.ts#
   AND t.con_id = d.con_id
  LEFT JOIN v$pdbs p
    ON p.con_id = d.con_id
 ORDER BY d.file#;
