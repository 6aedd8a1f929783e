// purpose: Asks for the end of an open turn, whichever process holds it.
// access: write
// params: turnKey
// returns: turn.*
MATCH (t:Turn {key: $turnKey})
SET t.lock = randomUUID()
WITH t WHERE t.lock IS NOT NULL
FOREACH (_ IN CASE WHEN t.status IN ['RUNNING', 'AWAITING_CONFIRMATION'] THEN [1] ELSE [] END | SET t.cancelRequested = true)
RETURN collect(t {.*}) AS rows
