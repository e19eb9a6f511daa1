-- Title: bytes of a segment of another schema
-- Needs: SELECT on SYS.DBA_SEGMENTS
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
SELECT COALESCE(SUM(s.bytes), 0) AS byte_count
  FROM dba_segments s
 WHERE s.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND s.segment_name = :name;
