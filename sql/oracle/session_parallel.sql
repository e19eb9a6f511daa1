-- Title: how parallel statements are decided upon in this session
-- Needs: SELECT on SYS.V_$PARAMETER
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT MAX(CASE p.name WHEN 'parallel_degree_policy' THEN p.value END) AS parallel_degree_policy,
       MAX(CASE p.name WHEN 'parallel_min_percent' THEN p.value END) AS parallel_min_percent,
       MAX(CASE p.name WHEN 'nls_comp' THEN p.value END) AS nls_comp
  FROM v$parameter p
 WHERE p.name IN ('parallel_degree_policy', 'parallel_min_percent', 'nls_comp');
