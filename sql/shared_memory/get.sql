-- purpose: One shared memory.
-- access: read
-- params: key
-- returns: id, summary, body, updatedAt
SELECT id, summary, body, updatedAt FROM shared_memory WHERE key = :key;
