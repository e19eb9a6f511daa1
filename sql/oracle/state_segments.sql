-- Title: what was read, written and waited for in each segment, the busiest first
-- Needs: SELECT on SYS.V_$SEGMENT_STATISTICS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT q.owner,
       q.object_name,
       q.part_name,
       q.object_type,
       q.statistic_name,
       q.total
  FROM (SELECT g.owner AS owner,
               g.object_name AS object_name,
               g.subobject_name AS part_name,
               g.object_type AS object_type,
               g.statistic_name AS statistic_name,
               g.value AS total
          FROM v$segment_statistics g
         WHERE g.value > 0
           AND g.statistic_name IN ('logical reads', 'physical reads', 'physical writes', 'db block changes',
                                    'row lock waits', 'buffer busy waits', 'ITL waits', 'segment scans')
         ORDER BY g.value DESC) q
 WHERE ROWNUM <= 2000;
