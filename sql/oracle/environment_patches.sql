-- Title: patches whose SQL was applied to this database, by number
-- Needs: SELECT on SYS.DBA_REGISTRY_SQLPATCH
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 12.1 to 26ai
SELECT 'patch.' || TO_CHAR(p.patch_id) AS name,
       p.action || ', ' || p.status AS value,
       CAST(NULL AS VARCHAR2(8)) AS unit,
       CAST(NULL AS VARCHAR2(255)) AS default_value,
       CAST(NULL AS VARCHAR2(30)) AS origin
  -- a patch may be applied and rolled back several times; the last time counts
  FROM (SELECT r.patch_id, r.action, r.status,
               ROW_NUMBER() OVER (PARTITION BY r.patch_id ORDER BY r.action_time DESC) AS nth
          FROM dba_registry_sqlpatch r) p
 WHERE p.nth = 1
 ORDER BY p.patch_id;
