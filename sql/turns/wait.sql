-- purpose: Lets a turn wait for confirmations, without a lease, with the results that are there already; unless all are answered by now.
-- access: write
-- params: turnKey, op, fence, heldResults
-- returns: outcome, turn
-- json: turn
-- unused: op
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN t.endedBy IS NOT NULL OR t.fence <> :fence THEN 'LOST'
    WHEN t.cancelRequested THEN 'CANCELLED'
    WHEN NOT EXISTS (SELECT 1 FROM json_each(t.confirmIds) AS c
      WHERE c.value NOT IN (SELECT value FROM json_each(t.approvedIds))
        AND c.value NOT IN (SELECT value FROM json_each(t.refusedIds))) THEN 'ANSWERED'
    ELSE 'WAITING' END, clock.now
  FROM clock JOIN turn AS t ON t.key = :turnKey;
UPDATE turn SET status = 'AWAITING_CONFIRMATION', leaseUntil = NULL, heldResults = :heldResults
WHERE key = :turnKey AND (SELECT outcome FROM decision) = 'WAITING';
SELECT d.outcome,
  (SELECT document FROM turn_document WHERE key = :turnKey) AS turn
FROM decision AS d JOIN turn AS t ON t.key = :turnKey;
