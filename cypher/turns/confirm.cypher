// purpose: Answers a call that waits for a confirmation. With the last answer the turn runs again: under a new fence, held by whoever answered.
// access: write
// params: turnKey, op, callId, approve, reason, lease
// returns: outcome, turn
MATCH (t:Turn {key: $turnKey})
SET t.lock = $op
WITH t WHERE t.lock IS NOT NULL
WITH t, datetime.realtime() AS clock
WITH t, clock.epochSeconds * 1000000 + clock.microsecond AS now, CASE
  WHEN t.confirmedBy = $op AND t.status = 'RUNNING' THEN 'RESUMED'
  WHEN $callId IN t.approvedIds THEN CASE WHEN $approve THEN 'SAME' ELSE 'OPPOSITE' END
  WHEN $callId IN t.refusedIds THEN CASE WHEN $approve THEN 'OPPOSITE' ELSE 'SAME' END
  WHEN NOT $callId IN coalesce(t.confirmIds, []) THEN 'UNKNOWN'
  WHEN t.endedBy IS NOT NULL OR t.cancelRequested THEN 'ENDED'
  ELSE 'DONE' END AS outcome
FOREACH (_ IN CASE WHEN outcome = 'DONE' AND $approve THEN [1] ELSE [] END |
  SET t.approvedIds = t.approvedIds + $callId)
FOREACH (_ IN CASE WHEN outcome = 'DONE' AND NOT $approve THEN [1] ELSE [] END |
  SET t.refusedIds = t.refusedIds + $callId, t.refusals = t.refusals + $reason)
WITH t, now, CASE
  WHEN outcome = 'DONE' AND t.status = 'AWAITING_CONFIRMATION'
    AND all(id IN t.confirmIds WHERE id IN t.approvedIds OR id IN t.refusedIds) THEN 'TAKEN'
  ELSE outcome END AS outcome
FOREACH (_ IN CASE outcome WHEN 'TAKEN' THEN [1] ELSE [] END |
  SET t.status = 'RUNNING', t.fence = t.fence + 1, t.leaseUntil = now + $lease, t.confirmedBy = $op)
RETURN collect({outcome: CASE outcome WHEN 'TAKEN' THEN 'RESUMED' ELSE outcome END, turn: t {.*}}) AS rows
