-- Title: columns of a table that are redacted
-- Needs: SELECT on SYS.REDACTION_COLUMNS
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2.0.4 to 26ai
SELECT r.column_name AS redacted_column
  FROM redaction_columns r
 WHERE r.object_owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND r.object_name = :name
 ORDER BY r.column_name;
