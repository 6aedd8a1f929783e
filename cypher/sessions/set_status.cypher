// purpose: Archives or unarchives a session and its node; nothing happens where it has that status.
// access: write
// params: space, key, id, op, eventKey, data, status, type
// returns: outcome, due, session.*
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
WITH s, CASE s.status WHEN $status THEN 'SAME' ELSE 'DONE' END AS outcome
CALL (s, outcome) {
  WITH s, outcome WHERE outcome = 'DONE'
  MATCH (n:TopologyNode {key: $key})
  SET n.status = $status
  WITH s, datetime.realtime() AS clock
  WITH s, clock.epochSeconds * 1000000 + clock.microsecond AS now
  MATCH (sp:Space {id: $space})
  CALL (s, sp, now) {
    WITH s, sp, now WHERE $status = 'ARCHIVED'
    OPTIONAL MATCH (main:Session {key: sp.id + '/' + s.rootId})
    UNWIND CASE WHEN 'ON_ARCHIVE' IN sp.consolidateOn THEN [{kind: 'CONSOLIDATE', id: s.id}] ELSE [] END
      + CASE WHEN 'ON_ARCHIVE' IN sp.integrateOn AND main.role = 'MAIN' THEN [{kind: 'INTEGRATE', id: main.id}] ELSE [] END AS one
    MERGE (task:Task {key: sp.id + '/' + one.kind + ':' + one.id})
    SET task.lock = $op
    WITH sp, now, one, task
    SET task += {spaceId: sp.id, kind: one.kind, sessionId: one.id, requested: $op, failures: coalesce(task.failures, 0),
      dueAt: coalesce(task.dueAt, now)}
    RETURN count(task) AS due
  }
  SET sp.lock = $op
  WITH s, sp, due, datetime.realtime() AS clock
  WITH s, sp, due, clock.epochSeconds * 1000000 + clock.microsecond AS now
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq + 1, type: $type, nodeId: $id,
    rootId: s.rootId, data: $data, at: now})
  SET s.status = $status, s.updatedAt = now, s.eventSeq = sp.eventSeq + 1,
    s.memorySeq = CASE WHEN $status = 'ACTIVE' AND s.memory IS NOT NULL THEN sp.eventSeq + 1 ELSE s.memorySeq END,
    sp.settledSeq = sp.eventSeq, sp.eventSeq = sp.eventSeq + 1
  RETURN collect(due) AS dues
}
RETURN collect(s {.*, outcome: outcome, due: head(dues)}) AS rows
