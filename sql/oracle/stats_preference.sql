-- Title: the value of one preference of DBMS_STATS where no table has its own
-- Needs: nothing
-- License: none
-- Effect: reads only
-- Params: :preference (a name that this release knows)
-- Versions: 11.2 to 26ai
SELECT :preference AS name,
       DBMS_STATS.GET_PREFS(:preference) AS preference_value
  FROM dual;
