-- Title: Make the server detect a lost client within two seconds
-- Needs: none
-- License: none
-- Effect: changes a setting of this session (refused where the server's platform cannot do it)
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT set_config('client_connection_check_interval', '2s', false) AS value;
