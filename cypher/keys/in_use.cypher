// purpose: Whether there ever was a key.
// access: read
// params: none
// returns: inUse
OPTIONAL MATCH (u:KeysInUse {key: 'keys'})
RETURN [{inUse: u IS NOT NULL}] AS rows
