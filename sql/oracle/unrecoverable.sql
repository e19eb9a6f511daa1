-- Title: what the server itself records of changes that the redo log lacks, since an instant
-- Needs: SELECT on SYS.V_$DATABASE, V_$DATAFILE
-- License: none
-- Effect: reads only
-- Params: :since (seconds since 1970 by the database's clock)
-- Versions: 11.2 to 26ai
-- One row where no data file had such a change: then file_name is null.
SELECT d.log_mode AS log_mode,
       d.force_logging AS force_logging,
       f.name AS file_name,
       TO_CHAR(f.unrecoverable_time, 'YYYY-MM-DD HH24:MI:SS') AS unrecoverable_at
  FROM v$database d
  LEFT JOIN v$datafile f
    ON ROUND((f.unrecoverable_time - DATE '1970-01-01') * 86400) >= :since
 ORDER BY f.unrecoverable_time, f.name;
