// purpose: Sessions by key.
// access: read
// params: keys
// texts: many
// shared: keys
// returns: session.*
UNWIND $keys AS key
MATCH (s:Session {key: key})
RETURN collect(s {.*}) AS rows
