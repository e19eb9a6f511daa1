-- Title: free space for sorts: the user's temporary tablespace, or all of its group
-- Needs: SELECT on SYS.DBA_TEMP_FREE_SPACE, DBA_TABLESPACE_GROUPS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT f.tablespace_name AS tablespace_name,
       f.tablespace_size AS byte_count,
       f.free_space AS free_byte_count
  FROM dba_temp_free_space f
 WHERE f.tablespace_name IN (SELECT u.temporary_tablespace FROM user_users u)
    OR f.tablespace_name IN (SELECT g.tablespace_name
                               FROM dba_tablespace_groups g
                               JOIN user_users m
                                 ON m.temporary_tablespace = g.group_name);
