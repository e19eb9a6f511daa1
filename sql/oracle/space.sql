-- Title: remaining quota of the user
-- Needs: nothing: USER_ views
-- License: none
-- Effect: reads only
-- Params: :schema (exact case); one row when it is the session's user
-- Versions: 11.2 to 26ai
-- An unlimited quota, or the privilege UNLIMITED TABLESPACE, gives null: the free space is then not known here.
SELECT u.default_tablespace AS place,
       CASE WHEN q.max_bytes >= 0 THEN q.max_bytes - q.bytes END AS free_byte_count
  FROM user_users u
  LEFT JOIN user_ts_quotas q
    ON q.tablespace_name = u.default_tablespace
 WHERE u.username = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'));
