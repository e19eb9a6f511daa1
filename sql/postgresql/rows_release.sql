-- Title: Rows of a file were taken
-- Needs: none
-- License: none
-- Effect: none by itself
-- Params: none
-- Versions: PostgreSQL 14 and later
RELEASE SAVEPOINT dbatk_rows;
