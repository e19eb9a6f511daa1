-- Title: The mark of an index
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: DuckDB 2.0 and later
SELECT coalesce(comment, '') AS identity, comment AS mark, NULL::BIGINT AS born FROM duckdb_indexes()
 WHERE database_name = current_database() AND schema_name = :schema AND index_name = :name;
