-- Title: bytes and extents of a segment of another schema
-- Needs: SELECT on SYS.DBA_SEGMENTS
-- License: none
-- Effect: reads only
-- Params: :schema, :name (exact case)
-- Versions: 11.2 to 26ai
-- Parallel loads may leave half empty extents, one a server: bytes and extents then grow with the degree.
SELECT 'segment' AS kind,
       'bytes and extents' AS name,
       CAST(NULL AS VARCHAR2(128)) AS detail,
       COALESCE(SUM(s.bytes), 0) AS value,
       COALESCE(SUM(s.extents), 0) AS total
  FROM dba_segments s
 WHERE s.owner = COALESCE(:schema, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'))
   AND s.segment_name = :name;
