-- Title: forced logging of the pluggable database
-- Needs: SELECT on SYS.DBA_PDBS
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 12.1 to 26ai
SELECT p.force_logging AS force_logging,
       p.force_nologging AS force_nologging
  FROM dba_pdbs p
 WHERE p.pdb_name = SYS_CONTEXT('USERENV', 'CON_NAME');
