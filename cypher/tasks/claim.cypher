// purpose: Takes a task that is due, for the length of a lease; no row where it is not due, or is held.
// access: write
// params: key, op, lease
// returns: requested, failures
MATCH (t:Task {key: $key})
SET t.lock = $op
WITH t, datetime.realtime() AS clock
WITH t, clock.epochSeconds * 1000000 + clock.microsecond AS now
FOREACH (_ IN CASE WHEN t.holder IS NULL OR t.holder <> $op THEN CASE WHEN t.dueAt <= now THEN [1] ELSE [] END ELSE [] END |
  SET t.holder = $op, t.dueAt = now + $lease)
WITH t WHERE t.lock IS NOT NULL AND t.holder = $op
RETURN collect(t {.requested, .failures}) AS rows
