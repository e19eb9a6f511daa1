-- Title: what RMAN is configured to do for this database, by rows that differ from its defaults
-- Needs: SELECT on SYS.V_$RMAN_CONFIGURATION
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- Read before and after: dbatk's scripts configure nothing. A default has no row, and is not OFF for that.
SELECT c.conf# AS conf_number,
       c.name AS name,
       c.value AS value
  FROM v$rman_configuration c
 ORDER BY c.conf#;
