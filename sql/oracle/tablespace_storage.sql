-- Title: tablespaces this user can use: whether their storage evaluates predicates itself (Exadata)
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT t.tablespace_name AS tablespace_name,
       t.predicate_evaluation AS predicate_evaluation
  FROM user_tablespaces t
 WHERE t.contents = 'PERMANENT'
 ORDER BY t.tablespace_name;
