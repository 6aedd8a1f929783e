-- purpose: One stored skill.
-- access: read
-- params: key
-- returns: id, description, content
SELECT id, description, content FROM skill WHERE key = :key;
