-- Title: tablespaces: state, free bytes and room to grow
-- Needs: SELECT on SYS.DBA_TABLESPACES, DBA_FREE_SPACE, DBA_DATA_FILES
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT t.tablespace_name AS tablespace_name,
       t.status AS status,
       t.contents AS contents,
       t.force_logging AS force_logging,
       t.bigfile AS bigfile,
       COALESCE((SELECT SUM(f.bytes) FROM dba_free_space f WHERE f.tablespace_name = t.tablespace_name), 0)
         AS free_byte_count,
       COALESCE((SELECT SUM(d.maxbytes - d.bytes)
                   FROM dba_data_files d
                  WHERE d.tablespace_name = t.tablespace_name
                    AND d.autoextensible = 'YES'
                    AND d.maxbytes > d.bytes), 0) AS growth_byte_count
  FROM dba_tablespaces t
 ORDER BY t.tablespace_name;
