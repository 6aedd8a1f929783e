// purpose: Makes a key, and remembers for ever that there was one. A Space has at most so many that are not revoked.
// access: write
// params: space, key, id, op, prefix, name, shown, hash, scope, limit
// returns: outcome, key.*
OPTIONAL MATCH (sp:Space {id: $space})
SET sp.lock = $op
WITH sp WHERE sp.lock IS NOT NULL OR $space IS NULL
OPTIONAL MATCH (made:ApiKey {key: $key})
WITH made, COUNT { MATCH (k:ApiKey) WHERE k.key STARTS WITH $prefix AND k.revokedAt IS NULL } AS count
WITH CASE
  WHEN made IS NOT NULL THEN 'DONE_BEFORE'
  WHEN count >= $limit THEN 'FULL'
  ELSE 'DONE' END AS outcome
CALL (outcome) {
  WITH outcome WHERE outcome = 'DONE'
  WITH datetime.realtime() AS clock
  WITH clock.epochSeconds * 1000000 + clock.microsecond AS now
  CREATE (:ApiKey {key: $key, id: $id, spaceId: $space, name: $name, prefix: $shown, hash: $hash, scope: $scope, createdAt: now})
  MERGE (u:KeysInUse {key: 'keys'})
  ON CREATE SET u.since = now
}
OPTIONAL MATCH (k:ApiKey {key: $key})
RETURN collect(CASE WHEN k IS NULL THEN {outcome: outcome} ELSE k {.*, outcome: outcome} END) AS rows
