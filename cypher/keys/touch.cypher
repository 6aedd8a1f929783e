// purpose: Writes when a key was last used, unless that was written a moment ago.
// access: write
// params: key, op, interval
// returns: id
MATCH (k:ApiKey {key: $key})
SET k.lock = $op
WITH k, datetime.realtime() AS clock WHERE k.lock IS NOT NULL
WITH k, clock.epochSeconds * 1000000 + clock.microsecond AS now
FOREACH (_ IN CASE WHEN coalesce(k.lastUsedAt, 0) <= now - $interval THEN [1] ELSE [] END |
  SET k.lastUsedAt = now)
RETURN collect({id: k.id}) AS rows
