-- Title: directory objects of the database that this user may use
-- Needs: nothing
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT d.directory_name,
       d.directory_path
  FROM all_directories d
 ORDER BY d.directory_name;
