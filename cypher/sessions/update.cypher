// purpose: Changes the given fields of an active session; a label changes on its node as well.
// access: write
// params: space, key, id, op, eventKey, data, changes
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
  MATCH (n:TopologyNode {key: $key})
  SET n.label = coalesce($changes.label, n.label)
  WITH s
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  WITH s, sp, datetime.realtime() AS clock
  WITH s, sp, clock.epochSeconds * 1000000 + clock.microsecond AS now
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq + 1, type: 'SESSION_UPDATED', nodeId: $id,
    rootId: s.rootId, data: $data, at: now})
  SET s += $changes, s.updatedAt = now, s.eventSeq = sp.eventSeq + 1, sp.settledSeq = sp.eventSeq, sp.eventSeq = sp.eventSeq + 1
}
RETURN collect(s {.*, outcome: outcome}) AS rows
