// purpose: Writes a record, where its revision is the expected one (0: it is new) or where none is expected.
// access: write
// params: space, key, id, op, value, expectedRevision
// returns: outcome, id, value, revision, updatedAt
MATCH (sp:Space {id: $space})
SET sp.lock = $op
WITH sp WHERE sp.lock IS NOT NULL
OPTIONAL MATCH (old:Record {key: $key})
WITH sp, CASE
  WHEN sp.receipts CONTAINS $op THEN 'DONE_BEFORE'
  WHEN $expectedRevision <> coalesce(old.revision, 0) THEN 'CHANGED'
  ELSE 'DONE' END AS outcome
CALL (sp, outcome) {
  WITH sp, outcome WHERE outcome = 'DONE'
  WITH sp, datetime.realtime() AS clock
  WITH sp, clock.epochSeconds * 1000000 + clock.microsecond AS now
  MERGE (r:Record {key: $key})
  ON CREATE SET r.id = $id, r.revision = 0
  SET r.value = $value, r.revision = r.revision + 1, r.updatedAt = now,
    sp.receipts = left($op + ' ' + coalesce(sp.receipts, ''), 216)
}
OPTIONAL MATCH (r:Record {key: $key})
RETURN collect({outcome: outcome, id: r.id, value: r.value, revision: r.revision, updatedAt: r.updatedAt}) AS rows
