-- Title: the source of a program that a name leads to
-- Needs: nothing: ALL_ views show what the user may see
-- License: none
-- Effect: reads only
-- Params: :owner, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT s.type AS kind,
       s.text AS text
  FROM all_source s
 WHERE s.owner = :owner
   AND s.name = :name
 ORDER BY s.type, s.line;
