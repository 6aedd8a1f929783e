// purpose: Prolongs the lease of a task; no row where another holds it by now.
// access: write
// params: key, holder, lease
// returns: requested
MATCH (t:Task {key: $key})
SET t.lock = $holder
WITH t, datetime.realtime() AS clock
WITH t, clock.epochSeconds * 1000000 + clock.microsecond AS now
WHERE t.lock IS NOT NULL AND t.holder = $holder
SET t.dueAt = now + $lease
RETURN collect(t {.requested}) AS rows
