-- Title: whether the database has instances that V$ views of this one do not show
-- Needs: SELECT on SYS.V_$INSTANCE
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- PARALLEL tells whether the instance is mounted in cluster mode (Database Reference, V$INSTANCE).
SELECT i.parallel AS others
  FROM v$instance i;
