-- Title: All settings and whether each may be changed; one of the process is dbatk's own, too
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT s.name AS name,
       s.value AS value,
       CASE WHEN s.input_type = 'BOOLEAN' THEN 'boolean'
            WHEN s.input_type IN ('BIGINT', 'UBIGINT') THEN 'integer'
            WHEN s.input_type = 'DOUBLE' THEN 'real'
            ELSE 'text' END AS kind,
       NULL::VARCHAR AS unit,
       CASE s.input_type WHEN 'UBIGINT' THEN '0' END AS low,
       CASE s.input_type WHEN 'UBIGINT' THEN '18446744073709551615' END AS high,
       NULL::VARCHAR AS choices,
       CASE WHEN locked.why IS NULL THEN 'session' ELSE '' END AS scopes,
       locked.why AS fixed,
       array_to_string(s.aliases, ' ') AS aliases
  FROM duckdb_settings() s,
       LATERAL (SELECT CASE
           WHEN regexp_matches(s.name, 'secret|password|token|key') THEN 'it may hold a secret'
           -- what was looked at, and approved, would be something else than what is worked on
           WHEN s.name IN ('search_path', 'schema', 'file_search_path', 'home_directory', 'current_dialect',
                           'dialect_compatibility_mode', 'active_grammar_extensions',
                           'allow_parser_override_extension', 'preserve_identifier_case',
                           'table_function_identifier_conversion', 'python_enable_replacements',
                           'python_scan_all_frames') THEN 'it decides what names mean'
           WHEN regexp_matches(s.name, 'extension') THEN 'it decides which code is loaded'
           -- the list of what is allowed has one name of each setting
           WHEN current_setting('lock_configuration')
                AND NOT list_contains(current_setting('allowed_configs'), s.name)
                AND NOT EXISTS (SELECT 1 FROM duckdb_settings() o
                                 WHERE list_contains(o.aliases, s.name)
                                   AND list_contains(current_setting('allowed_configs'), o.name))
                THEN 'the configuration is locked; `?external=yes` in the URL of the target leaves it open'
           END AS why) locked
 ORDER BY s.name;
