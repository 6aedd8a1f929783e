// purpose: The newest turns of each session before a number, oldest first.
// access: read
// params: keys, before, first
// texts: many
// shared: keys
// returns: key, turns
UNWIND $keys AS key
CALL (key) {
  MATCH (t:Turn)
  USING INDEX SEEK t:Turn(sk, number)
  WHERE t.sk = key AND t.number < $before
  WITH t ORDER BY t.sk DESC, t.number DESC LIMIT $first
  RETURN collect(t {.*}) AS turns
}
RETURN collect({key: key, turns: reverse(turns)}) AS rows
