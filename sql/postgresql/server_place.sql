-- Title: Where this server is: address, port and data directory, which distinguish a clone from its original
-- Needs: none (the data directory needs pg_read_all_settings)
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT coalesce(host(inet_server_addr()), 'local socket') AS host,
       current_setting('port') AS port,
       (SELECT s.setting FROM pg_catalog.pg_settings s WHERE s.name = 'data_directory') AS data_directory;
