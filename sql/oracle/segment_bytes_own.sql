-- Title: bytes and extents of a segment of the session's user
-- Needs: nothing: USER_SEGMENTS
-- License: none
-- Effect: reads only
-- Params: :name (exact case)
-- Versions: 11.2 to 26ai
-- Parallel loads may leave half empty extents, one a server: bytes and extents then grow with the degree.
SELECT 'segment' AS kind,
       'bytes and extents' AS name,
       CAST(NULL AS VARCHAR2(128)) AS detail,
       COALESCE(SUM(s.bytes), 0) AS value,
       COALESCE(SUM(s.extents), 0) AS total
  FROM user_segments s
 WHERE s.segment_name = :name;
