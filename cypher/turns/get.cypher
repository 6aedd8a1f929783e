// purpose: Turns by key.
// access: read
// params: keys
// texts: many
// shared: keys
// returns: turn.*
UNWIND $keys AS key
MATCH (t:Turn {key: key})
RETURN collect(t {.*}) AS rows
