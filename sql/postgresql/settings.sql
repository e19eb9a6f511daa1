-- Title: Settings that differ from their default; those that may hold a secret are left out
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT s.name, s.setting AS value, s.unit
  FROM pg_catalog.pg_settings s
 WHERE s.setting IS DISTINCT FROM s.boot_val
   AND s.context <> 'internal' AND s.source NOT IN ('client', 'session')
   AND s.category <> 'Customized Options'
   AND s.name NOT IN ('primary_conninfo', 'ssl_passphrase_command', 'archive_command', 'restore_command',
                      'archive_cleanup_command', 'recovery_end_command')
 ORDER BY s.name;
