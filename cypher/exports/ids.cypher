// purpose: A page of the ids of a Space's sessions, by key.
// access: read
// params: prefix, after, first
// returns: id
MATCH (s:Session)
USING INDEX SEEK s:Session(key)
WHERE s.key > $after AND s.key < left($prefix, size($prefix) - 1) + '0'
WITH s ORDER BY s.key LIMIT $first
RETURN collect({id: s.id}) AS rows
