-- Title: where the SQL trace of this session is written
-- Needs: SELECT on SYS.V_$DIAG_INFO
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT 'trace' AS kind,
       d.name AS name,
       d.value AS detail,
       CAST(NULL AS NUMBER) AS value,
       CAST(NULL AS NUMBER) AS total
  FROM v$diag_info d
 WHERE d.name = 'Default Trace File';
