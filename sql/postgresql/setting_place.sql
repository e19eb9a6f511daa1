-- Title: Where the server keeps its files
-- Needs: superuser, or pg_read_all_settings
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT current_setting('data_directory') AS data_directory;
