-- purpose: The newest turns of a Space with one status, newest first.
-- access: read
-- params: space, status, first
-- texts: many
-- returns: turn.*
-- json: confirmIds, approvedIds, refusedIds, refusals
SELECT t.* FROM turn AS t WHERE t.spaceId = :space AND t.status = :status
ORDER BY t.startedAt DESC, t.key DESC LIMIT :first;
