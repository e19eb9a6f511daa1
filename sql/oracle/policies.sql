-- Title: row policies (VPD) that filter what a session sees of a table
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT p.policy_name AS policy_name
  FROM all_policies p
 WHERE p.object_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND p.object_name = :name
   AND p.sel = 'YES'
   AND p.enable = 'YES'
 ORDER BY p.policy_name;
