-- Title: records of backups in the control file: how many there are, and how many it can hold before it reuses them
-- Needs: SELECT on SYS.V_$CONTROLFILE_RECORD_SECTION
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT r.type AS record_type,
       r.records_total AS record_limit,
       r.records_used AS record_count
  FROM v$controlfile_record_section r
 WHERE r.type IN ('BACKUP SET', 'BACKUP PIECE', 'BACKUP DATAFILE', 'RMAN STATUS')
 ORDER BY r.type;
