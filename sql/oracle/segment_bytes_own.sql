-- Title: bytes of a segment of the session's user
-- Needs: nothing: USER_SEGMENTS
-- License: none
-- Effect: reads only
-- Params: :name (exact case)
-- Versions: 11.2 to 26ai
SELECT COALESCE(SUM(s.bytes), 0) AS byte_count
  FROM user_segments s
 WHERE s.segment_name = :name;
