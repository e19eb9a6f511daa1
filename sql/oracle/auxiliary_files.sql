-- Title: files that a copy of the whole database has: data files, temporary files, members of the online log
-- Needs: SELECT on SYS.V_$DATAFILE, V_$TEMPFILE, V_$LOG and V_$LOGFILE
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT 'data' AS kind,
       d.file# AS file_number,
       d.name AS file_name,
       d.bytes AS byte_count
  FROM v$datafile d
 UNION ALL
SELECT 'temporary' AS kind,
       t.file# AS file_number,
       t.name AS file_name,
       t.bytes AS byte_count
  FROM v$tempfile t
 UNION ALL
SELECT 'log' AS kind,
       l.group# AS file_number,
       m.member AS file_name,
       l.bytes AS byte_count
  FROM v$log l
  JOIN v$logfile m
    ON m.group# = l.group#
 ORDER BY 1, 2, 3;
