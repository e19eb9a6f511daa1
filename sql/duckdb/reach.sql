-- Title: What SQL may read and write beside the database file; nothing where that is all
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
-- DuckDB itself adds the file, its journals and the folder of its temporary files.
SELECT CASE WHEN current_setting('enable_external_access') THEN 'everything that DuckDB can reach'
            ELSE (SELECT string_agg(place, ', ' ORDER BY place)
                    FROM (SELECT unnest(list_concat(current_setting('allowed_directories'),
                                                    current_setting('allowed_paths'))) AS place)
                   WHERE place NOT IN (SELECT own.path || more.suffix
                                         FROM duckdb_databases() AS own
                                        CROSS JOIN (VALUES (''), ('.wal'), ('.wal.checkpoint'), ('.wal.recovery'),
                                                           ('.tmp/')) AS more (suffix)
                                        WHERE own.path IS NOT NULL)
                     AND NOT (place LIKE '%/.tmp/' AND current_database() = 'memory')) END AS reach;
