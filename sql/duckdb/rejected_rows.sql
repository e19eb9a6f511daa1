-- Title: Rows of a data file that the last statement left out
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: DuckDB 2.0 and later
SELECT line, column_name, error_message AS reason, csv_line AS row_text
  FROM reject_errors
 WHERE scan_id = (SELECT max(scan_id) FROM reject_errors)
QUALIFY row_number() OVER (PARTITION BY file_id, line ORDER BY column_idx) = 1
 ORDER BY line;
