-- Title: the database time, in the format of CREATED
-- Needs: nothing
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT ROUND((SYSDATE - DATE '1970-01-01') * 86400) AS born
  FROM dual;
