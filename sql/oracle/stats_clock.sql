-- Title: the database time, and how far back statistics can be restored
-- Needs: nothing
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- Instants are texts: a TIMESTAMP WITH TIME ZONE that goes through a client comes back as another one.
SELECT TO_CHAR(SYSTIMESTAMP, 'YYYY-MM-DD HH24:MI:SS.FF6 TZH:TZM') AS instant,
       TO_CHAR(SYSDATE, 'YYYY-MM-DD HH24:MI:SS') AS instant_date,
       TO_CHAR(DBMS_STATS.GET_STATS_HISTORY_AVAILABILITY, 'YYYY-MM-DD HH24:MI:SS TZH:TZM') AS oldest
  FROM dual;
