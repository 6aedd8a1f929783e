-- purpose: Answers a call that waits for a confirmation. With the last answer the turn runs again: under a new fence, held by whoever answered.
-- access: write
-- params: turnKey, op, callId, approve, reason, lease
-- returns: outcome, turn
-- json: turn
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN t.confirmedBy = :op AND t.status = 'RUNNING' THEN 'RESUMED'
    WHEN :callId IN (SELECT value FROM json_each(t.approvedIds)) THEN CASE WHEN :approve THEN 'SAME' ELSE 'OPPOSITE' END
    WHEN :callId IN (SELECT value FROM json_each(t.refusedIds)) THEN CASE WHEN :approve THEN 'OPPOSITE' ELSE 'SAME' END
    WHEN :callId NOT IN (SELECT value FROM json_each(t.confirmIds)) THEN 'UNKNOWN'
    WHEN t.endedBy IS NOT NULL OR t.cancelRequested THEN 'ENDED'
    ELSE 'DONE' END, clock.now
  FROM clock JOIN turn AS t ON t.key = :turnKey;
UPDATE turn SET
  approvedIds = CASE WHEN :approve THEN json_insert(approvedIds, '$[#]', :callId) ELSE approvedIds END,
  refusedIds = CASE WHEN :approve THEN refusedIds ELSE json_insert(refusedIds, '$[#]', :callId) END,
  refusals = CASE WHEN :approve THEN refusals ELSE json_insert(refusals, '$[#]', :reason) END
WHERE key = :turnKey AND (SELECT outcome FROM decision) = 'DONE';
UPDATE decision SET outcome = 'TAKEN'
WHERE outcome = 'DONE' AND EXISTS (
  SELECT 1 FROM turn AS t WHERE t.key = :turnKey AND t.status = 'AWAITING_CONFIRMATION' AND NOT EXISTS (
    SELECT 1 FROM json_each(t.confirmIds) AS c
    WHERE c.value NOT IN (SELECT value FROM json_each(t.approvedIds))
      AND c.value NOT IN (SELECT value FROM json_each(t.refusedIds))));
UPDATE turn SET status = 'RUNNING', fence = fence + 1, leaseUntil = (SELECT now FROM decision) + :lease, confirmedBy = :op
WHERE key = :turnKey AND (SELECT outcome FROM decision) = 'TAKEN';
SELECT CASE d.outcome WHEN 'TAKEN' THEN 'RESUMED' ELSE d.outcome END AS outcome,
  (SELECT document FROM turn_document WHERE key = :turnKey) AS turn
FROM decision AS d JOIN turn AS t ON t.key = :turnKey;
