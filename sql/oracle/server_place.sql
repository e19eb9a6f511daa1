-- Title: where this database is: host, or that it is a cluster, and its first data file, which a clone has elsewhere
-- Needs: SELECT on SYS.V_$INSTANCE and SYS.V_$DATAFILE
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT CASE i.parallel WHEN 'YES' THEN 'a cluster' ELSE i.host_name END AS host_name,
       SYS_CONTEXT('USERENV', 'SERVICE_NAME') AS service_name,
       SYS_CONTEXT('USERENV', 'DB_UNIQUE_NAME') AS db_unique_name,
       (SELECT f.name FROM v$datafile f WHERE f.file# = (SELECT MIN(n.file#) FROM v$datafile n)) AS first_file
  FROM v$instance i;
