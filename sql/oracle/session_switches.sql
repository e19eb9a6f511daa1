-- Title: whether parallel DML, DDL and queries are enabled in this session, and its consumer group
-- Needs: SELECT on SYS.V_$SESSION
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT 'switches' AS kind,
       'PDML ' || s.pdml_status || ', PDDL ' || s.pddl_status || ', PQ ' || s.pq_status AS name,
       CAST(s.resource_consumer_group AS VARCHAR2(128)) AS detail,
       CAST(NULL AS NUMBER) AS value,
       CAST(NULL AS NUMBER) AS total
  FROM v$session s
 WHERE s.sid = TO_NUMBER(SYS_CONTEXT('USERENV', 'SID'));
