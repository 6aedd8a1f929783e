-- purpose: All shared memories of a Space, in the order of first insertion.
-- access: read
-- params: space
-- texts: many
-- returns: id, summary, body, updatedAt
SELECT id, summary, body, updatedAt FROM shared_memory WHERE spaceId = :space ORDER BY place;
