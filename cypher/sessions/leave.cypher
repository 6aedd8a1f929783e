// purpose: A holder leaves a session; nothing happens where it was not in it.
// access: write
// params: key, holderKey
// returns: session.*
MATCH (s:Session {key: $key})
OPTIONAL MATCH (h:Holder {key: $holderKey})
SET h.lock = randomUUID()
WITH s, h WHERE s.key IS NOT NULL
FOREACH (_ IN CASE WHEN h.sk = $key THEN [1] ELSE [] END | DELETE h)
RETURN collect(s {.*}) AS rows
