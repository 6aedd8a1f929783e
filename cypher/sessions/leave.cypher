// purpose: A holder leaves a session; nothing happens where it was not in it.
// access: write
// params: key, holderKey
// returns: session.*
MATCH (s:Session {key: $key})
OPTIONAL MATCH (h:Holder {key: $holderKey, sk: $key})
DELETE h
RETURN collect(s {.*}) AS rows
