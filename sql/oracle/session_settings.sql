-- Title: settings of this session that decide what an unqualified name and a statement mean
-- Needs: nothing
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') AS current_schema,
       SYS_CONTEXT('USERENV', 'CURRENT_EDITION_NAME') AS edition,
       SYS_CONTEXT('USERENV', 'PROXY_USER') AS proxy_user,
       SYS_CONTEXT('USERENV', 'LANGUAGE') AS language,
       SYS_CONTEXT('USERENV', 'NLS_TERRITORY') AS nls_territory,
       SYS_CONTEXT('USERENV', 'NLS_CALENDAR') AS nls_calendar,
       SYS_CONTEXT('USERENV', 'NLS_DATE_FORMAT') AS nls_date_format,
       SYS_CONTEXT('USERENV', 'NLS_DATE_LANGUAGE') AS nls_date_language,
       SYS_CONTEXT('USERENV', 'NLS_SORT') AS nls_sort
  FROM dual;
