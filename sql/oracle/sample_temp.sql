-- Title: temporary space in use by a run now
-- Needs: SELECT on SYS.V_$SORT_USAGE (V$TEMPSEG_USAGE is a synonym on it), V_$SESSION and V_$PARAMETER
-- License: none
-- Effect: reads only
-- Params: :run
-- Versions: 11.2 to 26ai
-- Parallel servers carry the identifier of their coordinator, so theirs is in it. A temporary tablespace has the
-- standard block size.
SELECT 'temp_bytes' AS metric_name,
       COALESCE(SUM(u.blocks * TO_NUMBER(p.value)), 0) AS metric_value
  FROM v$tempseg_usage u
  JOIN v$session s
    ON s.saddr = u.session_addr
  JOIN v$parameter p
    ON p.name = 'db_block_size'
 WHERE s.client_identifier = :run;
