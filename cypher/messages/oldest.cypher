// purpose: The oldest messages of each session after a place.
// access: read
// params: keys, after, before, first, roles, columns
// texts: many
// shared: keys
// returns: key, messages
UNWIND $keys AS key
CALL (key) {
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = key AND r.seq > $after AND r.seq < $before AND ($roles IS NULL OR m.role IN $roles)
  WITH r, m ORDER BY r.sk ASC, r.seq ASC LIMIT $first
  RETURN collect([name IN $columns | coalesce(m[name], r[name])]) AS messages
}
RETURN collect({key: key, messages: messages}) AS rows
