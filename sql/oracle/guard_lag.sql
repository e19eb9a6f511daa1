-- Title: lag of the standby databases, or of this database if it is a standby
-- Needs: SELECT on SYS.V_$ARCHIVE_DEST, V_$DATABASE and V_$DATAGUARD_STATS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- V$DATAGUARD_STATS shows the lag only on a standby. A primary knows the SCN applied by each standby, and both SCNs
-- as times differ by the lag (SCN_TO_TIMESTAMP is exact to about three seconds); APPLIED_SCN is 0 until a standby has
-- reported it. A lag is written as `+00 00:00:05`.
SELECT COALESCE(a.db_unique_name, a.dest_name) AS standby_name,
       CASE WHEN a.status = 'VALID' AND a.applied_scn > 0
            THEN (CAST(SCN_TO_TIMESTAMP(b.current_scn) AS DATE) - CAST(SCN_TO_TIMESTAMP(a.applied_scn) AS DATE)) * 86400
       END AS lag_seconds,
       CASE WHEN a.status <> 'VALID' THEN 'its destination has the status ' || a.status
            WHEN COALESCE(a.applied_scn, 0) = 0 THEN 'it has not reported what it applied'
       END AS problem
  FROM v$archive_dest a
 CROSS JOIN v$database b
 WHERE a.target = 'STANDBY'
   AND a.status NOT IN ('INACTIVE', 'DEFERRED', 'ALTERNATE')
   AND b.database_role = 'PRIMARY'
 UNION ALL
SELECT 'this standby' AS standby_name,
       TO_NUMBER(SUBSTR(s.value, 2, INSTR(s.value, ' ') - 2)) * 86400
       + TO_NUMBER(SUBSTR(s.value, INSTR(s.value, ' ') + 1, 2)) * 3600
       + TO_NUMBER(SUBSTR(s.value, INSTR(s.value, ' ') + 4, 2)) * 60
       + TO_NUMBER(SUBSTR(s.value, INSTR(s.value, ' ') + 7, 2)) AS lag_seconds,
       CASE WHEN s.value IS NULL THEN 'it does not know its lag' END AS problem
  FROM v$dataguard_stats s
 CROSS JOIN v$database d
 WHERE LOWER(s.name) = 'apply lag'
   AND d.database_role <> 'PRIMARY';
