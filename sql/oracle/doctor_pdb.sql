-- Title: the pluggable database this session is in: open how, for whom
-- Needs: SELECT on SYS.V_$PDBS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 12.1 to 26ai
SELECT p.name AS pdb_name,
       p.open_mode AS open_mode,
       p.restricted AS restricted
  FROM v$pdbs p
 WHERE p.con_id = TO_NUMBER(SYS_CONTEXT('USERENV', 'CON_ID'));
