-- Title: whether rows of a table may get another address, and when DDL last changed the table or a part of it
-- Needs: to see the table (ALL_ views)
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT t.row_movement AS row_movement,
       (SELECT TO_CHAR(MAX(o.last_ddl_time), 'YYYY-MM-DD HH24:MI:SS')
          FROM all_objects o
         WHERE o.owner = t.owner
           AND o.object_name = t.table_name
           AND o.object_type IN ('TABLE', 'TABLE PARTITION', 'TABLE SUBPARTITION')) AS altered_at
  FROM all_tables t
 WHERE t.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND t.table_name = :name;
