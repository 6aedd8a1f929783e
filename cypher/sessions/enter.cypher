// purpose: A holder (a tab, a device) enters a session and leaves the one that it was in.
// access: write
// params: key, holderKey, op
// returns: outcome, left, session.*
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
WITH s, CASE s.status WHEN 'ACTIVE' THEN 'DONE' ELSE 'ARCHIVED' END AS outcome
CALL (outcome) {
  WITH outcome WHERE outcome = 'DONE'
  MERGE (h:Holder {key: $holderKey})
  SET h.lock = $op
  WITH h, datetime.realtime() AS clock
  WITH h, clock.epochSeconds * 1000000 + clock.microsecond AS now
  FOREACH (_ IN CASE WHEN h.op = $op THEN [] ELSE [1] END |
    SET h.cameFrom = h.sk, h.sk = $key, h.op = $op, h.at = now)
  RETURN collect(h {.lock, .cameFrom}) AS holders
}
WITH s, outcome, head(holders) AS holder
RETURN collect(s {.*, left: CASE WHEN holder.cameFrom <> $key THEN holder.cameFrom END,
  outcome: CASE WHEN outcome = 'DONE' AND holder.lock IS NULL THEN 'GONE' ELSE outcome END}) AS rows
