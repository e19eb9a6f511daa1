-- Title: functions that a query may call and that cannot run in parallel servers
-- Needs: nothing: ALL_PROCEDURES shows what the user may run
-- License: none
-- Effect: reads only
-- Params: :words, the words before a parenthesis, each between bars (|TOTAL|TAX|)
-- Versions: 11.2 to 26ai
-- PARALLEL says whether PARALLEL_ENABLE was declared; Oracle's own packages are left out by their owners.
SELECT p.owner AS owner_name,
       p.object_name AS object_name,
       p.procedure_name AS procedure_name
  FROM all_procedures p
 WHERE p.parallel = 'NO'
   AND p.object_type IN ('FUNCTION', 'PACKAGE', 'TYPE')
   AND p.owner NOT IN ('SYS', 'SYSTEM', 'XDB', 'MDSYS', 'CTXSYS', 'ORDSYS', 'OLAPSYS', 'WMSYS')
   AND ((p.object_type = 'FUNCTION' AND INSTR(:words, '|' || p.object_name || '|') > 0)
        OR INSTR(:words, '|' || p.procedure_name || '|') > 0);
