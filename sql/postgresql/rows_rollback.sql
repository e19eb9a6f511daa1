-- Title: Back to before rows of a file, one of which is bad
-- Needs: none
-- License: none
-- Effect: takes back the rows since the savepoint
-- Params: none
-- Versions: PostgreSQL 14 and later
ROLLBACK TO SAVEPOINT dbatk_rows;
