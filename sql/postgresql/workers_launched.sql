-- Title: Parallel workers that queries of this database requested and got
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: PostgreSQL 18 and later
SELECT d.parallel_workers_to_launch AS asked, d.parallel_workers_launched AS launched
  FROM pg_catalog.pg_stat_database d
 WHERE d.datname = current_database();
