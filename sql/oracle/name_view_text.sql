-- Title: the query of a view that a name leads to
-- Needs: nothing: ALL_ views show what the user may see
-- License: none
-- Effect: reads only
-- Params: :owner, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT 'VIEW' AS kind,
       v.text AS text
  FROM all_views v
 WHERE v.owner = :owner
   AND v.view_name = :name;
