// purpose: Sessions by key, each with its newest messages before a place, oldest first.
// access: read
// params: keys, after, before, first, roles, columns
// texts: many
// shared: keys
// returns: session.*, messages
UNWIND $keys AS key
MATCH (s:Session {key: key})
CALL (key) {
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = key AND r.seq > $after AND r.seq < $before AND ($roles IS NULL OR m.role IN $roles)
  WITH r, m ORDER BY r.sk DESC, r.seq DESC LIMIT $first
  RETURN collect([name IN $columns | coalesce(m[name], r[name])]) AS messages
}
RETURN collect(s {.*, messages: reverse(messages)}) AS rows
