-- Title: Settings with default and origin, extensions and size; what may hold a secret is left out
-- Needs: none; pg_read_all_settings shows in which file and line a setting stands
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT 'setting.' || s.name AS name,
       s.setting AS value,
       s.unit AS unit,
       s.boot_val AS default_value,
       -- what a session of dbatk sets is not part of the environment; a value computed at the start is nobody's choice
       CASE WHEN s.source NOT IN ('default', 'override') AND s.setting IS DISTINCT FROM s.boot_val
            THEN COALESCE(regexp_replace(s.sourcefile, '^.*/', '') || ', line ' || s.sourceline, s.source)
       END AS origin
  FROM pg_catalog.pg_settings s
 WHERE s.source NOT IN ('client', 'session')
   AND s.category <> 'Customized Options'
   AND s.name NOT IN ('primary_conninfo', 'ssl_passphrase_command', 'archive_command', 'restore_command',
                      'archive_cleanup_command', 'recovery_end_command', 'transaction_read_only',
                      'transaction_isolation', 'transaction_deferrable', 'in_hot_standby')
UNION ALL
SELECT 'extension.' || e.extname, e.extversion, NULL, NULL, NULL
  FROM pg_catalog.pg_extension e
UNION ALL
SELECT 'server.version', pg_catalog.version(), NULL, NULL, NULL
UNION ALL
SELECT 'size.database_bytes', pg_catalog.pg_database_size(pg_catalog.current_database())::text, 'B', NULL, NULL
 ORDER BY 1;
