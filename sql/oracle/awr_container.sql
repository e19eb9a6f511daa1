-- Title: the database id that AWR of this pluggable database has
-- Needs: SELECT on SYS.V_$DATABASE
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 12.1 to 26ai
SELECT d.con_dbid AS con_dbid
  FROM v$database d;
