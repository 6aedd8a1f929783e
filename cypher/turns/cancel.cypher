// purpose: Asks for the end of an open turn, whichever process holds it. One that waits for a confirmation has no holder: its lease is over at once.
// access: write
// params: turnKey
// returns: turn.*
MATCH (t:Turn {key: $turnKey})
SET t.lock = randomUUID()
WITH t WHERE t.lock IS NOT NULL
FOREACH (_ IN CASE WHEN t.status IN ['RUNNING', 'AWAITING_CONFIRMATION'] THEN [1] ELSE [] END |
  SET t.cancelRequested = true, t.leaseUntil = CASE t.status WHEN 'AWAITING_CONFIRMATION' THEN 0 ELSE t.leaseUntil END)
RETURN collect(t {.*}) AS rows
