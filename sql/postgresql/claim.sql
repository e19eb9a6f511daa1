-- Title: Take the lock that one run at a time has on a database, until the session ends; else who has it
-- Needs: none
-- License: none
-- Effect: takes an advisory lock
-- Params: none
-- Versions: PostgreSQL 14 and later
WITH tried AS MATERIALIZED (SELECT pg_try_advisory_lock(1684169835, 1) AS taken)
SELECT CASE WHEN t.taken THEN 'yes' ELSE 'no' END AS taken, h.run, h.pid, h.host, h.since
  FROM tried t
  LEFT JOIN LATERAL
       (SELECT a.application_name AS run, a.pid,
               CASE WHEN a.client_addr IS NOT NULL THEN host(a.client_addr)
                    WHEN a.client_port = -1 THEN 'the server'
                    ELSE 'unknown host' END AS host,
               a.backend_start AS since
          FROM pg_catalog.pg_locks l
          JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
         WHERE l.locktype = 'advisory' AND l.granted AND l.pid <> pg_backend_pid()
           AND l.classid = 1684169835::oid AND l.objid = 1::oid AND l.objsubid = 2
           AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = current_database())
         LIMIT 1) h ON NOT t.taken;
