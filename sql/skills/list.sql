-- purpose: All stored skills of a Space, in the order of first insertion.
-- access: read
-- params: space
-- texts: many
-- returns: id, description, content
SELECT id, description, content FROM skill WHERE spaceId = :space ORDER BY place;
