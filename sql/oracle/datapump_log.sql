-- Title: the log of a Data Pump job, in pieces that a line of any client holds
-- Needs: READ on the directory
-- License: none
-- Effect: reads only
-- Params: :directory, :file
-- Versions: 12.2 to 26ai
-- Each piece stands between < and >, and <br> for its line ends. ROWNUM lets the file be read once, not for each.
SELECT p.piece AS piece,
       '<' || REPLACE(DBMS_LOB.SUBSTR(l.content, 500, 500 * (p.piece - 1) + 1), CHR(10), '<br>') || '>' AS log_text
  FROM (SELECT TO_CLOB(BFILENAME(:directory, :file)) AS content, ROWNUM AS one
          FROM dual) l
 CROSS JOIN (SELECT LEVEL AS piece
               FROM dual
            CONNECT BY LEVEL <= 20000) p
 WHERE p.piece <= CEIL(DBMS_LOB.GETLENGTH(l.content) / 500)
 ORDER BY p.piece;
