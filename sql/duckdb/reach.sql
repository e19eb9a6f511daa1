-- Title: What SQL may read and write beside the database file; nothing where that is all
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
-- DuckDB itself adds the file, its journals and the folder of its temporary files. With `system.main`, no macro of the database answers instead.
SELECT CASE WHEN system.main.current_setting('enable_external_access') THEN 'everything that DuckDB can reach'
            ELSE (SELECT system.main.string_agg(place, ', ' ORDER BY place)
                    FROM (SELECT unnest(system.main.list_concat(system.main.current_setting('allowed_directories'),
                                                                system.main.current_setting('allowed_paths'))) AS place)
                   WHERE place NOT IN (SELECT system.main.concat(own.path, more.suffix)
                                         FROM system.main.duckdb_databases() AS own
                                        CROSS JOIN (VALUES (''), ('.wal'), ('.wal.checkpoint'), ('.wal.recovery'),
                                                           ('.tmp/')) AS more (suffix)
                                        WHERE own.path IS NOT NULL)
                     AND NOT (system.main.ends_with(place, '/.tmp/')
                              AND system.main.current_database() = 'memory')) END AS reach;
