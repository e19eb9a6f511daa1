-- Title: the plan with which a statement ran, as DBMS_XPLAN prints it
-- Needs: SELECT on SYS.V_$SQL, V_$SQL_PLAN, V_$SQL_PLAN_STATISTICS_ALL and V_$SESSION
-- License: none
-- Effect: reads only
-- Params: :statement_id (its SQL_ID)
-- Versions: 11.2 to 26ai
-- DBMS_XPLAN says in a line of its own when the cursor is gone or a view is not granted; it raises nothing.
SELECT p.plan_table_output AS metric_name,
       ROWNUM AS metric_value,
       'text' AS metric_unit,
       'plan' AS metric_kind
  FROM TABLE(DBMS_XPLAN.DISPLAY_CURSOR(:statement_id, NULL, 'TYPICAL +NOTE')) p;
