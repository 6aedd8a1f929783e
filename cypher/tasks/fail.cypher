// purpose: Gives a task back that failed: counted, due again after a while, and told by an event. No row where another holds it.
// access: write
// params: space, key, id, op, eventKey, data, holder, delay
// returns: failures
MATCH (t:Task {key: $key})
SET t.lock = $op
WITH t WHERE t.lock IS NOT NULL AND (t.holder = $holder OR t.settledBy = $holder)
CALL (t) {
  WITH t WHERE t.holder = $holder
  OPTIONAL MATCH (s:Session {key: $space + '/' + $id})
  WITH t, coalesce(s.rootId, $id) AS rootId
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  WITH t, rootId, sp, datetime.realtime() AS clock
  WITH t, rootId, sp, clock.epochSeconds * 1000000 + clock.microsecond AS now
  SET t.failures = t.failures + 1, t.dueAt = now + $delay, t.holder = null, t.settledBy = $holder
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq + 1, type: 'TASK_FAILED', nodeId: $id,
    rootId: rootId, data: $data, at: now})
  SET sp.settledSeq = sp.eventSeq, sp.eventSeq = sp.eventSeq + 1
}
RETURN collect(t {.failures}) AS rows
