-- Title: size of the database's data files
-- Needs: SELECT on SYS.DBA_DATA_FILES
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT 'size.database_bytes' AS name,
       TO_CHAR(SUM(f.bytes)) AS value,
       'B' AS unit,
       CAST(NULL AS VARCHAR2(255)) AS default_value,
       CAST(NULL AS VARCHAR2(30)) AS origin
  FROM dba_data_files f;
