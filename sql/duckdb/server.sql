-- Title: Version, database and user of this session
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT version()                                    AS version_text,
       ''                                           AS edition,
       current_database()                           AS database_name,
       (SELECT coalesce(path, ':memory:') FROM duckdb_databases() WHERE database_name = current_database())
                                                    AS database_id,
       ''                                           AS user_name,
       current_schema()                             AS current_schema,
       NULL::VARCHAR                                AS started_at,
       (SELECT value::INTEGER FROM duckdb_settings() WHERE name = 'threads') AS cpu_count;
