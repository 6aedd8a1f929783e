// purpose: One record.
// access: read
// params: key
// returns: id, value, revision, updatedAt
MATCH (r:Record {key: $key})
RETURN collect(r {.id, .value, .revision, .updatedAt}) AS rows
