// purpose: Deletes a fork profile; NONE where there is none.
// access: write
// params: space, key, op
// returns: outcome
MATCH (sp:Space {id: $space})
SET sp.lock = $op
WITH sp WHERE sp.lock IS NOT NULL
OPTIONAL MATCH (n:ForkProfile {key: $key})
WITH sp, n, CASE
  WHEN sp.receipts CONTAINS $op THEN 'DONE_BEFORE'
  WHEN n IS NULL THEN 'NONE'
  ELSE 'DONE' END AS outcome
FOREACH (_ IN CASE outcome WHEN 'DONE' THEN [1] ELSE [] END |
  SET sp.receipts = left($op + ' ' + coalesce(sp.receipts, ''), 216)
  DELETE n)
RETURN collect({outcome: outcome}) AS rows
