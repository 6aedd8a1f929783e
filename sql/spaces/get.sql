-- purpose: One Space.
-- access: read
-- params: id
-- returns: space.*
SELECT * FROM space WHERE id = :id;
