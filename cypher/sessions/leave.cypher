// purpose: A holder leaves a session; nothing happens where it was not in it.
// access: write
// params: key, holderKey, op
// returns: outcome, due, session.*
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
OPTIONAL MATCH (h:Holder {key: $holderKey})
SET h.lock = $op
WITH s, h
CALL (s, h) {
  WITH s, h WHERE h.lock IS NOT NULL AND h.sk = $key
  WITH s, h, datetime.realtime() AS clock
  WITH s, h, clock.epochSeconds * 1000000 + clock.microsecond AS now
  MATCH (sp:Space {id: s.spaceId})
  CALL (s, sp, now) {
    OPTIONAL MATCH (main:Session {key: sp.id + '/' + s.rootId})
    UNWIND CASE WHEN 'ON_LEAVE' IN sp.consolidateOn THEN [{kind: 'CONSOLIDATE', id: s.id}] ELSE [] END
      + CASE WHEN 'ON_LEAVE' IN sp.integrateOn AND main.role = 'MAIN' THEN [{kind: 'INTEGRATE', id: main.id}] ELSE [] END AS one
    MERGE (task:Task {key: sp.id + '/' + one.kind + ':' + one.id})
    SET task.lock = $op
    WITH sp, now, one, task
    SET task += {spaceId: sp.id, kind: one.kind, sessionId: one.id, requested: $op, failures: coalesce(task.failures, 0),
      dueAt: coalesce(task.dueAt, now)}
    RETURN count(task) AS due
  }
  DELETE h
  RETURN collect(due) AS dues
}
RETURN collect(s {.*, due: head(dues), outcome: CASE WHEN size(dues) = 0 THEN 'SAME' ELSE 'DONE' END}) AS rows
