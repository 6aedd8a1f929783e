// purpose: Archives or unarchives a session and its node; nothing happens where it has that status.
// access: write
// params: space, key, id, op, eventKey, data, status, type
// returns: outcome, session.*
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
WITH s, CASE s.status WHEN $status THEN 'SAME' ELSE 'DONE' END AS outcome
CALL (s, outcome) {
  WITH s, outcome WHERE outcome = 'DONE'
  MATCH (n:TopologyNode {key: $key})
  SET n.status = $status
  WITH s
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  WITH s, sp, datetime.realtime() AS clock
  WITH s, sp, clock.epochSeconds * 1000000 + clock.microsecond AS now
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq + 1, type: $type, nodeId: $id,
    data: $data, at: now})
  SET s.status = $status, s.updatedAt = now, s.eventSeq = sp.eventSeq + 1, sp.eventSeq = sp.eventSeq + 1
}
RETURN collect(s {.*, outcome: outcome}) AS rows
