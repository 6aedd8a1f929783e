// purpose: Writes a shared memory; a new one comes last, and none where there are as many as the limit already.
// access: write
// params: space, key, id, op, summary, body, limit
// returns: outcome, id, summary, body, updatedAt
MATCH (sp:Space {id: $space})
SET sp.lock = $op
WITH sp WHERE sp.lock IS NOT NULL
OPTIONAL MATCH (old:SharedMemory {key: $key})
CALL () {
  MATCH (n:SharedMemory)
  USING INDEX SEEK n:SharedMemory(spaceId, place)
  WHERE n.spaceId = $space AND n.place >= 0
  RETURN count(n) AS stored
}
WITH sp, CASE
  WHEN sp.receipts CONTAINS $op THEN 'DONE_BEFORE'
  WHEN old IS NULL AND stored >= $limit THEN 'FULL'
  ELSE 'DONE' END AS outcome
CALL (sp, outcome) {
  WITH sp, outcome WHERE outcome = 'DONE'
  WITH sp, datetime.realtime() AS clock
  WITH sp, clock.epochSeconds * 1000000 + clock.microsecond AS now
  MERGE (n:SharedMemory {key: $key})
  ON CREATE SET n.spaceId = $space, n.id = $id, n.place = coalesce(sp.nextPlace, 0)
  SET n.summary = $summary, n.body = $body, n.updatedAt = now,
    sp.nextPlace = coalesce(sp.nextPlace, 0) + 1, sp.receipts = left($op + ' ' + coalesce(sp.receipts, ''), 216)
}
OPTIONAL MATCH (n:SharedMemory {key: $key})
RETURN collect({outcome: outcome, id: n.id, summary: n.summary, body: n.body, updatedAt: n.updatedAt}) AS rows
