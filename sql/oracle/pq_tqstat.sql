-- Title: rows and bytes that each parallel server of the last statement sent or received
-- Needs: SELECT on SYS.V_$PQ_TQSTAT
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- Filled in the coordinator's session only, and only until its next parallel statement. SERVER_TYPE may be padded
-- with NUL characters. detail is DFO, table queue, instance and process; value counts rows, total bytes.
SELECT 'tq' AS kind,
       RTRIM(REPLACE(q.server_type, CHR(0), '')) AS name,
       TO_CHAR(q.dfo_number) || ' ' || TO_CHAR(q.tq_id) || ' ' || TO_CHAR(q.instance) || ' ' || TRIM(q.process)
         AS detail,
       q.num_rows AS value,
       q.bytes AS total
  FROM v$pq_tqstat q;
