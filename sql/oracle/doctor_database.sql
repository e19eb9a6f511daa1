-- Title: the database: role, open mode, archiving, forced logging
-- Needs: SELECT on SYS.V_$DATABASE
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT d.dbid AS dbid,
       d.name AS database_name,
       d.db_unique_name AS db_unique_name,
       d.log_mode AS log_mode,
       d.open_mode AS open_mode,
       d.database_role AS database_role,
       d.force_logging AS force_logging,
       d.flashback_on AS flashback_on,
       d.supplemental_log_data_min AS supplemental_log_data
  FROM v$database d;
