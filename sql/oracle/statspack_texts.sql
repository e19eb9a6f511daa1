-- Title: texts of the statements at the end of a range of Statspack snapshots
-- Needs: SELECT on PERFSTAT.STATS$SQLTEXT and STATS$SQL_SUMMARY
-- License: none
-- Effect: reads only
-- Params: :dbid, :instance, :first_snap, :last_snap
-- Versions: 11.2 to 26ai
-- A text stands in pieces of 64 characters; the first sixteen of them are read. Statements that were there at the
-- first snapshot and did nothing since are left out.
SELECT NVL(t.sql_id, TO_CHAR(t.old_hash_value)) AS statement_id,
       LISTAGG(t.sql_text, '') WITHIN GROUP (ORDER BY t.piece) AS statement_text
  FROM perfstat.stats$sqltext t
 WHERE t.piece < 16
   AND (t.old_hash_value, t.text_subset) IN
           (SELECT e.old_hash_value, e.text_subset
              FROM perfstat.stats$sql_summary e
              LEFT JOIN perfstat.stats$sql_summary b
                ON b.snap_id = :first_snap
               AND b.dbid = e.dbid
               AND b.instance_number = e.instance_number
               AND b.old_hash_value = e.old_hash_value
               AND b.text_subset = e.text_subset
             WHERE e.snap_id = :last_snap
               AND e.dbid = :dbid
               AND e.instance_number = :instance
               AND (b.executions IS NULL OR b.executions <> e.executions))
 GROUP BY NVL(t.sql_id, TO_CHAR(t.old_hash_value));
