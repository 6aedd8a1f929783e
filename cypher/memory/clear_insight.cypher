// purpose: Clears the pending insight of a session; nothing happens where there is none.
// access: write
// params: space, key, id, op, eventKey, data
// returns: outcome, session.*
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
WITH s, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN s.status = 'ARCHIVED' THEN 'ARCHIVED'
  WHEN s.insight IS NULL THEN 'SAME'
  ELSE 'DONE' END AS outcome
CALL (s, outcome) {
  WITH s, outcome WHERE outcome = 'DONE'
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  WITH s, sp, datetime.realtime() AS clock
  WITH s, sp, clock.epochSeconds * 1000000 + clock.microsecond AS now
  SET s.insight = null, s.insightSource = null, s.insightAt = null,
    s.updatedAt = now, s.eventSeq = sp.eventSeq + 1, sp.settledSeq = sp.eventSeq, sp.eventSeq = sp.eventSeq + 1
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq, type: 'SESSION_UPDATED', nodeId: $id,
    rootId: s.rootId, data: $data, at: now})
}
RETURN collect(s {.*, outcome: outcome}) AS rows
