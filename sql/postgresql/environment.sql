-- Title: Settings with default and origin, and extensions; what may hold a secret is left out
-- Needs: none; pg_read_all_settings shows in which file and line a setting stands
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT 'setting.' || s.name AS name,
       s.value AS value,
       s.unit AS unit,
       s.boot_val AS default_value,
       -- a value computed at the start is nobody's choice
       CASE WHEN s.source NOT IN ('default', 'override') AND s.value IS DISTINCT FROM s.boot_val
            THEN COALESCE(regexp_replace(s.sourcefile, '^.*/', '') || ', line ' || s.sourceline::text, s.source)
       END AS origin
  FROM (SELECT p.name, p.unit, p.boot_val, p.category, p.sourcefile, p.sourceline,
               -- what a session of dbatk sets is not part of the environment; what it would have without that is
               CASE WHEN p.source = 'session' THEN p.reset_val ELSE p.setting END AS value,
               CASE WHEN p.source = 'session' THEN 'server, database or role' ELSE p.source END AS source
          FROM pg_catalog.pg_settings p) s
 WHERE s.source <> 'client'
   AND s.category <> 'Customized Options'
   AND s.name NOT IN ('application_name', 'primary_conninfo', 'ssl_passphrase_command', 'archive_command', 'restore_command',
                      'archive_cleanup_command', 'recovery_end_command', 'transaction_read_only',
                      'transaction_isolation', 'transaction_deferrable', 'in_hot_standby')
UNION ALL
SELECT 'extension.' || e.extname::text, e.extversion, NULL, NULL, NULL
  FROM pg_catalog.pg_extension e
UNION ALL
SELECT 'server.version', pg_catalog.version(), NULL, NULL, NULL
 ORDER BY 1;
