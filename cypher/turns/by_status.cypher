// purpose: The newest turns of a Space with one status, newest first.
// access: read
// params: space, status, first
// texts: many
// returns: turn.*
MATCH (t:Turn)
USING INDEX SEEK t:Turn(spaceId, status, startedAt, key)
WHERE t.spaceId = $space AND t.status = $status AND t.startedAt >= 0 AND t.key IS NOT NULL
WITH t ORDER BY t.spaceId DESC, t.status DESC, t.startedAt DESC, t.key DESC LIMIT $first
RETURN collect(t {.*}) AS rows
