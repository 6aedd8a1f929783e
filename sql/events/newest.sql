-- purpose: The numbers of the newest events of several Spaces.
-- access: read
-- params: spaces
-- returns: spaceId, newest
SELECT sp.id AS spaceId, sp.eventSeq AS newest
FROM json_each(:spaces) AS asked JOIN space AS sp ON sp.id = asked.value;
