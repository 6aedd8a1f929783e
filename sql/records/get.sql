-- purpose: One record.
-- access: read
-- params: key
-- returns: id, value, revision, updatedAt
SELECT id, value, revision, updatedAt FROM record WHERE key = :key;
