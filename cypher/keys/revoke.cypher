// purpose: Revokes a key; a second time changes nothing.
// access: write
// params: key, op
// returns: key.*
MATCH (k:ApiKey {key: $key})
SET k.lock = $op
WITH k, datetime.realtime() AS clock WHERE k.lock IS NOT NULL
SET k.revokedAt = coalesce(k.revokedAt, clock.epochSeconds * 1000000 + clock.microsecond)
RETURN collect(k {.*}) AS rows
