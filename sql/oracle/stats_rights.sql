-- Title: system privileges of the session that let it gather statistics of other schemas, or in jobs of the database
-- Needs: nothing
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT p.privilege AS privilege
  FROM session_privs p
 WHERE p.privilege IN ('ANALYZE ANY', 'SELECT ANY TABLE', 'ANALYZE ANY DICTIONARY', 'CREATE JOB', 'MANAGE SCHEDULER', 'MANAGE ANY QUEUE');
