-- Title: what decides whether a NOLOGGING load writes redo, and who would miss it
-- Needs: SELECT on SYS.V_$DATABASE, V_$ARCHIVE_DEST
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT d.log_mode AS log_mode,
       d.force_logging AS force_logging,
       d.database_role AS database_role,
       (SELECT COUNT(*)
          FROM v$archive_dest a
         WHERE a.target IN ('STANDBY', 'REMOTE')
           AND a.status = 'VALID') AS standby_count
  FROM v$database d;
