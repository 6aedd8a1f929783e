// purpose: Writes a session's digest.
// access: write
// params: space, key, id, op, eventKey, data, content, terms
// returns: outcome, session.*
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
WITH s, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN s.status = 'ARCHIVED' THEN 'ARCHIVED'
  ELSE 'DONE' END AS outcome
CALL (s, outcome) {
  WITH s, outcome WHERE outcome = 'DONE'
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  WITH s, sp, datetime.realtime() AS clock
  WITH s, sp, clock.epochSeconds * 1000000 + clock.microsecond AS now
  SET s.memorySeq = CASE WHEN s.memory = $content THEN s.memorySeq ELSE sp.eventSeq + 1 END, s.memory = $content, s.memoryTerms = $terms, s.memoryRevision = s.memoryRevision + 1,
    s.updatedAt = now, s.eventSeq = sp.eventSeq + 1, sp.settledSeq = sp.eventSeq, sp.eventSeq = sp.eventSeq + 1
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq, type: 'MEMORY_UPDATED', nodeId: $id,
    rootId: s.rootId, data: $data, at: now})
}
RETURN collect(s {.*, outcome: outcome}) AS rows
