-- Title: Make the server detect a lost client: one that went away in two seconds, a cut network in two minutes
-- Needs: none
-- License: none
-- Effect: changes settings of this session (refused where the server's platform cannot do it)
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT set_config('client_connection_check_interval', '2s', false) AS value,
       set_config('tcp_keepalives_idle', '60', false) AS idle,
       set_config('tcp_keepalives_interval', '15', false) AS between_probes,
       set_config('tcp_keepalives_count', '4', false) AS probes,
       set_config('tcp_user_timeout', '120s', false) AS unacknowledged;
