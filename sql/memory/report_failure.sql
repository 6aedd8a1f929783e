-- purpose: Tells by an event that a task of a session failed.
-- access: write
-- params: space, key, id, op, eventKey, data
-- returns: outcome
-- unused: op
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT iif(EXISTS (SELECT 1 FROM topology_event WHERE key = :eventKey), 'DONE_BEFORE', 'DONE'), clock.now
  FROM clock JOIN session AS s ON s.key = :key;
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, 'TASK_FAILED', :id, :data, d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE space SET eventSeq = eventSeq + 1
  WHERE id = :space AND EXISTS (SELECT 1 FROM decision AS d WHERE d.outcome = 'DONE');
SELECT outcome FROM decision;
