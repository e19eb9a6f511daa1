-- Title: free bytes of the temporary tablespace of this user, or of its group
-- Needs: SELECT on SYS.DBA_TEMP_FREE_SPACE, DBA_TABLESPACE_GROUPS and DBA_TEMP_FILES
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT u.temporary_tablespace AS place,
       (SELECT SUM(f.free_space)
          FROM dba_temp_free_space f
         WHERE f.tablespace_name = u.temporary_tablespace
            OR f.tablespace_name IN (SELECT g.tablespace_name
                                       FROM dba_tablespace_groups g
                                      WHERE g.group_name = u.temporary_tablespace))
       + (SELECT COALESCE(SUM(d.maxbytes - d.bytes), 0)
            FROM dba_temp_files d
           WHERE d.autoextensible = 'YES'
             AND d.maxbytes > d.bytes
             AND (d.tablespace_name = u.temporary_tablespace
               OR d.tablespace_name IN (SELECT h.tablespace_name
                                          FROM dba_tablespace_groups h
                                         WHERE h.group_name = u.temporary_tablespace))) AS free_byte_count
  FROM user_users u;
