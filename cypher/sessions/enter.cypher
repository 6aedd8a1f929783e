// purpose: A holder (a tab, a device) enters a session and leaves the one that it was in.
// access: write
// params: key, holderKey, op
// returns: outcome, left, due, session.*
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
WITH s, CASE s.status WHEN 'ACTIVE' THEN 'DONE' ELSE 'ARCHIVED' END AS outcome
CALL (outcome) {
  WITH outcome WHERE outcome = 'DONE'
  MERGE (h:Holder {key: $holderKey})
  SET h.lock = $op
  WITH h, datetime.realtime() AS clock
  WITH h, clock.epochSeconds * 1000000 + clock.microsecond AS now
  WITH h, now, h.lock IS NOT NULL AND (h.op IS NULL OR h.op <> $op) AS moves
  FOREACH (_ IN CASE WHEN moves THEN [1] ELSE [] END |
    SET h.cameFrom = h.sk, h.sk = $key, h.op = $op, h.at = now)
  WITH h, now, moves
  OPTIONAL MATCH (before:Session {key: CASE WHEN moves AND h.cameFrom <> $key THEN h.cameFrom END})
  OPTIONAL MATCH (sp:Space {id: before.spaceId})
  CALL (before, sp, now) {
    WITH before, sp, now WHERE before IS NOT NULL
    OPTIONAL MATCH (main:Session {key: sp.id + '/' + before.rootId})
    UNWIND CASE WHEN 'ON_SWITCH' IN sp.consolidateOn THEN [{kind: 'CONSOLIDATE', id: before.id}] ELSE [] END
      + CASE WHEN 'ON_SWITCH' IN sp.integrateOn AND main.role = 'MAIN' THEN [{kind: 'INTEGRATE', id: main.id}] ELSE [] END AS one
    MERGE (task:Task {key: sp.id + '/' + one.kind + ':' + one.id})
    SET task.lock = $op
    WITH sp, now, one, task
    SET task += {spaceId: sp.id, kind: one.kind, sessionId: one.id, requested: $op, failures: coalesce(task.failures, 0),
      dueAt: coalesce(task.dueAt, now)}
    RETURN count(task) AS due
  }
  RETURN collect(h {.lock, .cameFrom, due: due}) AS holders
}
WITH s, outcome, head(holders) AS holder
RETURN collect(s {.*, due: holder.due, left: CASE WHEN holder.cameFrom <> $key THEN holder.cameFrom END,
  outcome: CASE WHEN outcome = 'DONE' AND holder.lock IS NULL THEN 'GONE' ELSE outcome END}) AS rows
