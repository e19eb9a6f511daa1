-- Title: default tablespaces and quotas of all schemas, and which of them need no quota
-- Needs: SELECT on SYS.DBA_USERS, DBA_TS_QUOTAS and DBA_SYS_PRIVS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- MAX_BYTES is -1 without a limit; UNLIMITED TABLESPACE is granted to users and PUBLIC, never to roles.
SELECT u.username AS user_name,
       u.default_tablespace AS default_tablespace,
       q.tablespace_name AS tablespace_name,
       q.bytes AS used_byte_count,
       q.max_bytes AS quota_byte_count,
       0 AS unlimited
  FROM dba_users u
  LEFT JOIN dba_ts_quotas q
    ON q.username = u.username AND q.max_bytes <> 0
UNION ALL
SELECT p.grantee,
       NULL,
       NULL,
       NULL,
       NULL,
       1
  FROM dba_sys_privs p
 WHERE p.privilege = 'UNLIMITED TABLESPACE';
