-- Title: what the block before left in CLIENT_INFO
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 12.1 to 26ai
SELECT SYS_CONTEXT('USERENV', 'CLIENT_INFO') AS transaction_state
  FROM dual;
