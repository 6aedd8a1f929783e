-- purpose: Gives a task back that failed: counted, due again after a while, and told by an event. No row where another holds it.
-- access: write
-- params: space, key, id, op, eventKey, data, holder, delay
-- returns: failures
-- unused: op
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT 'DONE', clock.now FROM clock JOIN task AS t ON t.key = :key WHERE t.holder = :holder;
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, 'TASK_FAILED', :id, :data, d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space;
UPDATE space SET eventSeq = eventSeq + 1 WHERE id = :space AND EXISTS (SELECT 1 FROM decision);
UPDATE task SET failures = failures + 1, dueAt = (SELECT now FROM decision) + :delay, holder = NULL, settledBy = :holder
WHERE key = :key AND EXISTS (SELECT 1 FROM decision);
SELECT failures FROM task WHERE key = :key AND settledBy = :holder;
