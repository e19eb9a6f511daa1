-- Title: free bytes of the session's temporary tablespace, or of its group
-- Needs: SELECT on SYS.DBA_TEMP_FREE_SPACE, DBA_TABLESPACE_GROUPS, DBA_TEMP_FILES
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT u.temporary_tablespace AS temporary_tablespace,
       (SELECT SUM(f.free_space)
          FROM dba_temp_free_space f
         WHERE f.tablespace_name = u.temporary_tablespace
            OR f.tablespace_name IN (SELECT g.tablespace_name
                                       FROM dba_tablespace_groups g
                                      WHERE g.group_name = u.temporary_tablespace)) AS free_byte_count,
       (SELECT SUM(d.maxbytes - d.bytes)
          FROM dba_temp_files d
         WHERE d.autoextensible = 'YES'
           AND d.maxbytes > d.bytes
           AND (d.tablespace_name = u.temporary_tablespace
             OR d.tablespace_name IN (SELECT g.tablespace_name
                                        FROM dba_tablespace_groups g
                                       WHERE g.group_name = u.temporary_tablespace))) AS growth_byte_count
  FROM user_users u;
