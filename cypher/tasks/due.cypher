// purpose: Tasks of all Spaces that are due, the longest due first.
// access: read
// params: first
// returns: spaceId, kind, sessionId
WITH datetime.realtime() AS clock
WITH clock.epochSeconds * 1000000 + clock.microsecond AS now
MATCH (t:Task)
WHERE t.dueAt <= now
WITH t ORDER BY t.dueAt LIMIT $first
RETURN collect(t {.spaceId, .kind, .sessionId}) AS rows
