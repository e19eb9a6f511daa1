-- Title: bytes of a file in a directory of the server
-- Needs: READ on the directory
-- License: none
-- Effect: reads only
-- Params: :directory, :file
-- Versions: 11.2 to 26ai
SELECT DBMS_LOB.GETLENGTH(BFILENAME(:directory, :file)) AS byte_count
  FROM dual
 WHERE DBMS_LOB.FILEEXISTS(BFILENAME(:directory, :file)) = 1;
