-- Title: parameters of the instance, and where they were set
-- Needs: SELECT on SYS.V_$SYSTEM_PARAMETER
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2
SELECT 'setting.' || p.name AS name,
       p.value AS value,
       -- big integers are sizes in bytes
       CASE p.type WHEN 6 THEN 'B' END AS unit,
       CAST(NULL AS VARCHAR2(255)) AS default_value,
       -- ISDEFAULT tells of the parameter file alone
       CASE WHEN p.ismodified <> 'FALSE' THEN 'ALTER SYSTEM'
            WHEN p.isdefault = 'FALSE' THEN 'parameter file'
       END AS origin
  FROM v$system_parameter p
 ORDER BY p.name;
