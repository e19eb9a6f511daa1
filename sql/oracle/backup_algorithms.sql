-- Title: compression algorithms of RMAN, and which need the Advanced Compression option
-- Needs: SELECT on SYS.V_$RMAN_COMPRESSION_ALGORITHM
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT a.algorithm_name AS algorithm_name,
       a.algorithm_description AS description,
       a.is_valid AS is_valid,
       a.requires_aco AS requires_option,
       a.is_default AS is_default
  FROM v$rman_compression_algorithm a;
