// purpose: Gives a task back: done, unless it was asked for again since; with requested null it is due at once. No row where another holds it.
// access: write
// params: key, holder, requested
// returns: due
MATCH (t:Task {key: $key})
SET t.lock = $holder
WITH t, datetime.realtime() AS clock
WITH t, clock.epochSeconds * 1000000 + clock.microsecond AS now
WHERE t.lock IS NOT NULL
FOREACH (_ IN CASE WHEN t.holder = $holder THEN [1] ELSE [] END |
  SET t.dueAt = CASE WHEN t.requested = $requested THEN null ELSE now END,
    t.failures = CASE WHEN $requested IS NULL THEN t.failures ELSE 0 END, t.holder = null, t.settledBy = $holder)
WITH t WHERE t.settledBy = $holder
RETURN collect({due: CASE WHEN t.dueAt IS NULL THEN 0 ELSE 1 END}) AS rows
