-- Title: Identity of the database, and its current time
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT (SELECT coalesce(path, ':memory:') FROM duckdb_databases() WHERE database_name = current_database()) AS begun,
       epoch(now()) AS instant_seconds,
       NULL::VARCHAR AS host;
