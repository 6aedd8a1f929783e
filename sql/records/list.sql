-- purpose: A page of the records whose key begins with the prefix (and so comes before the end), by key.
-- access: read
-- params: prefix, end, after, first
-- texts: many
-- returns: id, value, revision, updatedAt
SELECT id, value, revision, updatedAt FROM record
WHERE key >= :prefix AND key > :after AND key < :end
ORDER BY key LIMIT :first;
