// purpose: Open turns of all Spaces whose lease ran out, the oldest first.
// access: read
// params: first
// returns: spaceId, id
WITH datetime.realtime() AS clock
WITH clock.epochSeconds * 1000000 + clock.microsecond AS now
MATCH (t:OpenTurn)
WHERE t.leaseUntil < now
WITH t ORDER BY t.leaseUntil LIMIT $first
RETURN collect(t {.spaceId, .id}) AS rows
