-- Title: Compile nothing in this session: to compile a long query of the catalogue takes seconds, to run it milliseconds
-- Needs: none
-- License: none
-- Effect: changes settings of this session
-- Params: none
-- Versions: PostgreSQL 14 and later
SELECT set_config('jit', 'off', false) AS jit;
