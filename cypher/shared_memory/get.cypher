// purpose: One shared memory.
// access: read
// params: key
// returns: id, summary, body, updatedAt
MATCH (n:SharedMemory {key: $key})
RETURN collect(n {.id, .summary, .body, .updatedAt}) AS rows
