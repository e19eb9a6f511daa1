-- Title: Bytes of the database's blocks, and how many of them hold nothing
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT block_size * total_blocks AS table_bytes, block_size * free_blocks AS free_bytes
  FROM pragma_database_size()
 WHERE database_name = current_database();
