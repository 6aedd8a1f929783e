// purpose: Lets a turn wait for confirmations, without a lease, with the results that are there already; unless all are answered by now.
// access: write
// params: turnKey, op, fence, heldResults
// returns: outcome, turn
MATCH (t:Turn {key: $turnKey})
SET t.lock = $op
WITH t WHERE t.lock IS NOT NULL
WITH t, CASE
  WHEN t.endedBy IS NOT NULL OR t.fence <> $fence THEN 'LOST'
  WHEN t.cancelRequested THEN 'CANCELLED'
  WHEN all(id IN t.confirmIds WHERE id IN t.approvedIds OR id IN t.refusedIds) THEN 'ANSWERED'
  ELSE 'WAITING' END AS outcome
FOREACH (_ IN CASE outcome WHEN 'WAITING' THEN [1] ELSE [] END |
  SET t.status = 'AWAITING_CONFIRMATION', t.leaseUntil = null, t.heldResults = $heldResults)
RETURN collect({outcome: outcome, turn: t {.*}}) AS rows
