-- Title: Timeouts of a session of dbatk where role, database and connection set none: a minute for locks, none else
-- Needs: none
-- License: none
-- Effect: changes settings of this session
-- Params: :read_only (on or off)
-- Versions: PostgreSQL 14 and later
SELECT s.name, set_config(s.name, w.value, false) AS value
  FROM (VALUES ('lock_timeout', '60s'), ('statement_timeout', '0'), ('transaction_timeout', '0'),
               ('idle_in_transaction_session_timeout', '0'), ('idle_session_timeout', '0'),
               ('default_transaction_read_only', :read_only)) AS w(name, value)
  JOIN pg_catalog.pg_settings s ON s.name = w.name
 WHERE s.source IN ('default', 'configuration file', 'environment variable', 'command line')
    OR w.value = 'on';
