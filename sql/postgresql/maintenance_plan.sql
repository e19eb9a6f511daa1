-- Title: What determines the parallel workers of an index build: table size, memory, limits
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :schema, :name
-- Versions: PostgreSQL 14 and later
SELECT pg_catalog.pg_relation_size(c.oid) / current_setting('block_size')::bigint AS table_blocks,
       (SELECT s.setting::bigint FROM pg_catalog.pg_settings s
         WHERE s.name = 'min_parallel_table_scan_size') AS min_scan_blocks,
       (SELECT s.setting::bigint FROM pg_catalog.pg_settings s
         WHERE s.name = 'maintenance_work_mem') AS memory_kilobytes,
       current_setting('max_parallel_maintenance_workers')::integer AS maintenance_workers,
       current_setting('max_parallel_workers')::integer AS parallel_workers,
       current_setting('max_worker_processes')::integer AS worker_processes,
       substring(pg_catalog.array_to_string(c.reloptions, ',')
                 FROM 'parallel_workers=([0-9]+)')::integer AS table_workers
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = coalesce(:schema, current_schema()) AND c.relname = :name;
