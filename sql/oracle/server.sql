-- Title: which server, edition and user this is
-- Needs: nothing: V$VERSION is open to everyone
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT v.banner AS version_text,
       CASE
         WHEN v.banner LIKE '%Express Edition%' THEN 'xe'
         WHEN v.banner LIKE '% Free %' THEN 'free'
         WHEN v.banner LIKE '%Enterprise Edition%' THEN 'ee'
         WHEN v.banner LIKE '% EE %' THEN 'ee'
         WHEN v.banner LIKE '%Standard Edition 2%' THEN 'se2'
       END AS edition,
       SYS_CONTEXT('USERENV', 'DB_NAME') AS database_name,
       SYS_CONTEXT('USERENV', 'DB_UNIQUE_NAME') || ':' || SYS_CONTEXT('USERENV', 'DB_NAME') AS database_id,
       SYS_CONTEXT('USERENV', 'SESSION_USER') AS user_name,
       SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') AS current_schema,
       SYS_CONTEXT('USERENV', 'SERVICE_NAME') AS service_name,
       SYS_CONTEXT('USERENV', 'INSTANCE_NAME') AS instance_name,
       CAST(NULL AS DATE) AS started_at,
       CAST(NULL AS NUMBER) AS cpu_count
  FROM v$version v
 WHERE v.banner LIKE 'Oracle%Database%Release%';
