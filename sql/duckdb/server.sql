-- Title: Version, database and user of this session
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
-- With `system.main`, no macro of the database answers instead.
SELECT system.main.version()                        AS version_text,
       ''                                           AS edition,
       system.main.current_database()               AS database_name,
       (SELECT coalesce(d.path, ':memory:') FROM system.main.duckdb_databases() d
         WHERE d.database_name = system.main.current_database())
                                                    AS database_id,
       ''                                           AS user_name,
       system.main.current_schema()                 AS current_schema,
       NULL::VARCHAR                                AS started_at,
       (SELECT s.value::INTEGER FROM system.main.duckdb_settings() s WHERE s.name = 'threads') AS cpu_count;
