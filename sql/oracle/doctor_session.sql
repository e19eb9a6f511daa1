-- Title: this session: its consumer group and its switches of parallelism
-- Needs: SELECT on SYS.V_$SESSION
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT s.resource_consumer_group AS consumer_group,
       s.service_name AS service_name,
       s.pdml_status AS pdml_status,
       s.pddl_status AS pddl_status,
       s.pq_status AS pq_status
  FROM v$session s
 WHERE s.sid = TO_NUMBER(SYS_CONTEXT('USERENV', 'SID'));
