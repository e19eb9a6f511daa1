-- Title: the user's own tablespaces, quota and password
-- Needs: nothing: USER_ views
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT u.default_tablespace AS default_tablespace,
       u.temporary_tablespace AS temporary_tablespace,
       u.account_status AS account_status,
       u.expiry_date AS expires_at,
       SYSDATE AS read_at,
       q.bytes AS used_byte_count,
       q.max_bytes AS quota_byte_count
  FROM user_users u
  LEFT JOIN user_ts_quotas q
    ON q.tablespace_name = u.default_tablespace;
