-- Title: the consumer groups that this user may switch to by grants of its own
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
-- What a role or PUBLIC may switch to is not shown here.
SELECT g.granted_group AS group_name
  FROM user_rsrc_consumer_group_privs g
 ORDER BY g.granted_group;
