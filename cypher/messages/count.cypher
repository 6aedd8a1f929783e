// purpose: How many messages of the given roles each session has.
// access: read
// params: keys, roles
// shared: keys
// returns: key, count
UNWIND $keys AS key
CALL (key) {
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = key AND r.seq > 0 AND m.role IN $roles
  RETURN count(m) AS count
}
RETURN collect({key: key, count: count}) AS rows
