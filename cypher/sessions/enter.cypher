// purpose: A holder (a tab, a device) enters a session and leaves the one that it was in.
// access: write
// params: key, holderKey, op
// returns: outcome, left, session.*
MERGE (h:Holder {key: $holderKey})
SET h.lock = $op
WITH h
OPTIONAL MATCH (s:Session {key: $key})
WITH h, s, h.sk AS before, datetime.realtime() AS clock
WITH h, s, before, clock.epochSeconds * 1000000 + clock.microsecond AS now, CASE s.status WHEN 'ACTIVE' THEN 'DONE' ELSE 'ARCHIVED' END AS outcome
FOREACH (_ IN CASE WHEN s IS NULL AND before IS NULL THEN [1] ELSE [] END | DELETE h)
FOREACH (_ IN CASE WHEN s IS NOT NULL AND outcome = 'DONE' THEN [1] ELSE [] END | SET h.sk = $key, h.at = now)
WITH s, outcome, before WHERE s IS NOT NULL
RETURN collect(s {.*, outcome: outcome, left: CASE WHEN outcome = 'DONE' AND before <> $key THEN before END}) AS rows
