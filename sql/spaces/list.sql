-- purpose: A page of the Spaces, by id.
-- access: read
-- params: after, first
-- texts: many
-- returns: space.*
SELECT * FROM space WHERE id > :after ORDER BY id LIMIT :first;
