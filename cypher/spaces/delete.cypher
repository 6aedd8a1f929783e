// purpose: Takes a Space away with its keys, at once; what was in it is reached by nobody any more, and swept later.
// access: write
// params: id, op, expectedCount
// returns: outcome, count
MATCH (d:DeleteLock {key: $id})
SET d.lock = $op
WITH d
OPTIONAL MATCH (gone:DeletedSpace {id: $id})
OPTIONAL MATCH (sp:Space {id: $id})
SET sp.lock = $op
WITH gone, sp WHERE gone.deletedBy = $op OR sp.lock IS NOT NULL
WITH sp, coalesce(sp.sessionCount, gone.sessionCount) AS count, CASE
  WHEN gone IS NOT NULL THEN 'DONE_BEFORE'
  WHEN sp.sessionCount <> $expectedCount THEN 'COUNT'
  ELSE 'DONE' END AS outcome
CALL (sp, outcome) {
  WITH sp, outcome WHERE outcome = 'DONE'
  WITH sp, datetime.realtime() AS clock
  SET sp:DeletedSpace, sp.deletedBy = $op, sp.deletedAt = clock.epochSeconds * 1000000 + clock.microsecond
  REMOVE sp:Space
  WITH sp
  MATCH (k:ApiKey) WHERE k.key STARTS WITH $id + '/'
  DELETE k
}
RETURN collect({outcome: outcome, count: count}) AS rows
