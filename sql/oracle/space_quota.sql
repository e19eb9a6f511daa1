-- Title: quotas of the session's user, and the right to do without
-- Needs: nothing: USER_ views
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT u.username AS user_name,
       u.default_tablespace AS default_tablespace,
       q.tablespace_name AS tablespace_name,
       q.bytes AS used_byte_count,
       q.max_bytes AS quota_byte_count,
       (SELECT COUNT(*) FROM session_privs p WHERE p.privilege = 'UNLIMITED TABLESPACE') AS unlimited
  FROM user_users u
  LEFT JOIN user_ts_quotas q
    ON q.max_bytes <> 0;
