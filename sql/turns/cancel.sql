-- purpose: Asks for the end of an open turn, whichever process holds it. One that waits for a confirmation has no holder: its lease is over at once.
-- access: write
-- params: turnKey
-- returns: turn.*
-- json: confirmIds, approvedIds, refusedIds, refusals
UPDATE turn SET cancelRequested = 1,
  leaseUntil = CASE status WHEN 'AWAITING_CONFIRMATION' THEN 0 ELSE leaseUntil END
WHERE key = :turnKey AND status IN ('RUNNING', 'AWAITING_CONFIRMATION');
SELECT * FROM turn WHERE key = :turnKey;
