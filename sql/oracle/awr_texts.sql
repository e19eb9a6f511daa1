-- Title: texts of the statements of a range of AWR snapshots
-- Needs: SELECT on SYS.DBA_HIST_SQLTEXT and DBA_HIST_SQLSTAT
-- License: Diagnostics Pack
-- Effect: reads only
-- Params: :dbid, :instance, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
SELECT t.sql_id AS statement_id,
       DBMS_LOB.SUBSTR(t.sql_text, 1000, 1) AS statement_text
  FROM dba_hist_sqltext t
 WHERE t.dbid = :dbid
   AND t.sql_id IN (SELECT h.sql_id
                      FROM dba_hist_sqlstat h
                     WHERE h.dbid = :dbid
                       AND h.instance_number = :instance
                       AND h.snap_id > :first_snap
                       AND h.snap_id <= :last_snap
                       AND h.elapsed_time_delta > 1000000);
