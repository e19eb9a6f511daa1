-- Title: bytes of the rows that external tables rejected, over the files of all servers that read them
-- Needs: READ on the directory
-- License: none
-- Effect: reads only
-- Params: :directory, :prefix (of the files, before the number of the server)
-- Versions: 11.2 to 26ai
-- The access driver writes a file only where it rejects something, and numbers the servers from 000.
SELECT COUNT(*) AS file_count,
       SUM(DBMS_LOB.GETLENGTH(BFILENAME(:directory, f.file_name))) AS byte_count
  FROM (SELECT :prefix || LPAD(TO_CHAR(LEVEL - 1), 3, '0') || '.bad' AS file_name
          FROM dual
       CONNECT BY LEVEL <= 1000) f
 WHERE DBMS_LOB.FILEEXISTS(BFILENAME(:directory, f.file_name)) = 1;
