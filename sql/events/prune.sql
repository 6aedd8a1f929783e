-- purpose: Removes a Space's events up to a number, but never its newest.
-- access: write
-- params: space, op, through
-- returns: through
-- unused: op
DELETE FROM topology_event
  WHERE spaceId = :space AND seq <= :through AND seq < (SELECT eventSeq FROM space WHERE id = :space);
SELECT :through AS through;
