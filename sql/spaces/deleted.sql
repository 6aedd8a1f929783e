-- purpose: The ids of Spaces that were deleted and are not swept yet.
-- access: read
-- params: first
-- returns: id
SELECT id FROM deleted_space WHERE id > '' ORDER BY id LIMIT :first;
