-- Title: Identity of the database, and its current time
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT (SELECT coalesce(d.path, ':memory:') FROM system.main.duckdb_databases() d
         WHERE d.database_name = system.main.current_database()) AS begun,
       system.main.epoch(system.main.now()) AS instant_seconds,
       NULL::VARCHAR AS host;
