-- Title: Bytes that the database's own blocks take
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT used_blocks * block_size AS byte_count FROM pragma_database_size()
 WHERE database_name = current_database() AND used_blocks > 0;
