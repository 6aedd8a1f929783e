// purpose: A page of the records whose key begins with the prefix (and so comes before the end), by key.
// access: read
// params: prefix, end, after, first
// texts: many
// returns: id, value, revision, updatedAt
MATCH (r:Record)
USING INDEX SEEK r:Record(key)
WHERE r.key >= $prefix AND r.key > $after AND r.key < $end
WITH r ORDER BY r.key LIMIT $first
RETURN collect(r {.id, .value, .revision, .updatedAt}) AS rows
