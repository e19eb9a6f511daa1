-- Title: the log of a Data Pump job
-- Needs: READ on the directory
-- License: none
-- Effect: reads only
-- Params: :directory, :file
-- Versions: 12.2 to 26ai
SELECT TO_CLOB(BFILENAME(:directory, :file)) AS log_text
  FROM dual;
