-- Title: parallel servers that are active for a run
-- Needs: SELECT on SYS.V_$PX_SESSION and SYS.V_$SESSION
-- License: none
-- Effect: reads only
-- Params: :run
-- Versions: 11.2 to 26ai
-- The coordinator's own row has no REQ_DEGREE; DEGREE is what was granted, REQ_DEGREE what was asked for before
-- resource limits and load reduced it. A SID is one of its instance: servers here may work for a coordinator elsewhere
-- with the same SID (QCINST_ID).
SELECT 'parallel_workers' AS metric_name,
       COUNT(*) AS metric_value
  FROM v$px_session p
  JOIN v$session s
    ON s.sid = p.qcsid
   AND COALESCE(p.qcinst_id, TO_NUMBER(SYS_CONTEXT('USERENV', 'INSTANCE')))
       = TO_NUMBER(SYS_CONTEXT('USERENV', 'INSTANCE'))
 WHERE s.client_identifier = :run
   AND p.req_degree IS NOT NULL
UNION ALL
SELECT 'parallel_degree' AS metric_name,
       COALESCE(MAX(p.degree), 0) AS metric_value
  FROM v$px_session p
  JOIN v$session s
    ON s.sid = p.qcsid
   AND COALESCE(p.qcinst_id, TO_NUMBER(SYS_CONTEXT('USERENV', 'INSTANCE')))
       = TO_NUMBER(SYS_CONTEXT('USERENV', 'INSTANCE'))
 WHERE s.client_identifier = :run
   AND p.req_degree IS NOT NULL
UNION ALL
SELECT 'parallel_degree_missing' AS metric_name,
       COALESCE(MAX(p.req_degree - p.degree), 0) AS metric_value
  FROM v$px_session p
  JOIN v$session s
    ON s.sid = p.qcsid
   AND COALESCE(p.qcinst_id, TO_NUMBER(SYS_CONTEXT('USERENV', 'INSTANCE')))
       = TO_NUMBER(SYS_CONTEXT('USERENV', 'INSTANCE'))
 WHERE s.client_identifier = :run
   AND p.req_degree IS NOT NULL;
