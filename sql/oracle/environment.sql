-- Title: parameters of the instance, with default and where they were set
-- Needs: SELECT on SYS.V_$SYSTEM_PARAMETER
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 12.1 to 26ai
SELECT 'setting.' || p.name AS name,
       p.value AS value,
       -- big integers are sizes in bytes
       CASE p.type WHEN 6 THEN 'B' END AS unit,
       p.default_value AS default_value,
       -- ISDEFAULT tells of the parameter file alone; in 12c DEFAULT_VALUE differs from values that nobody set
       CASE WHEN p.ismodified <> 'FALSE' THEN 'ALTER SYSTEM'
            WHEN p.isdefault = 'FALSE' THEN 'parameter file'
       END AS origin
  FROM v$system_parameter p
 ORDER BY p.name;
