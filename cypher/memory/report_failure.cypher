// purpose: Tells by an event that a task of a session failed.
// access: write
// params: space, key, id, op, eventKey, data
// returns: outcome
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
WITH s, CASE WHEN done IS NOT NULL THEN 'DONE_BEFORE' ELSE 'DONE' END AS outcome
CALL (s, outcome) {
  WITH s, outcome WHERE outcome = 'DONE'
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  WITH s, sp, datetime.realtime() AS clock
  WITH s, sp, clock.epochSeconds * 1000000 + clock.microsecond AS now
  SET sp.settledSeq = sp.eventSeq, sp.eventSeq = sp.eventSeq + 1
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq, type: 'TASK_FAILED', nodeId: $id,
    rootId: s.rootId, data: $data, at: now})
}
RETURN collect({outcome: outcome}) AS rows
