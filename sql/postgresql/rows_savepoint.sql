-- Title: Savepoint before rows of a file
-- Needs: none
-- License: none
-- Effect: none by itself
-- Params: none
-- Versions: PostgreSQL 14 and later
SAVEPOINT dbatk_rows;
