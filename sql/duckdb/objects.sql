-- Title: how many objects of users a file has
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT (SELECT count(*) FROM duckdb_tables() WHERE NOT internal)
       + (SELECT count(*) FROM duckdb_views() WHERE NOT internal)
       + (SELECT count(*) FROM duckdb_sequences())
       + (SELECT count(*) FROM duckdb_functions() WHERE NOT internal)
       + (SELECT count(*) FROM duckdb_types() WHERE NOT internal)
       + (SELECT count(*) FROM duckdb_schemas() WHERE NOT internal AND schema_name <> 'main') AS objects;
