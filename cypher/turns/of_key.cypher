// purpose: The turn that an idempotency key began, where it is the same input again.
// access: read
// params: space, idempotencyKey, inputHash
// returns: turn.*
MATCH (i:Idempotency {key: $idempotencyKey})
WHERE i.op = 'send' AND i.inputHash = $inputHash
MATCH (t:Turn {key: $space + '/' + i.resultId})
RETURN collect(t {.*}) AS rows
