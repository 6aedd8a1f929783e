// purpose: All shared memories of a Space, in the order of first insertion.
// access: read
// params: space
// texts: many
// returns: id, summary, body, updatedAt
MATCH (n:SharedMemory)
USING INDEX SEEK n:SharedMemory(spaceId, place)
WHERE n.spaceId = $space AND n.place >= 0
WITH n ORDER BY n.spaceId, n.place
RETURN collect(n {.id, .summary, .body, .updatedAt}) AS rows
