-- purpose: Archives or unarchives a session and its node; nothing happens where it has that status.
-- access: write
-- params: space, key, id, op, eventKey, data, status, type
-- returns: outcome, due, session.*
-- json: tags
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE s.status WHEN :status THEN 'SAME' ELSE 'DONE' END, clock.now FROM clock JOIN session AS s ON s.key = :key;
UPDATE topology_node SET status = :status WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, :type, :id, :data, d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE space SET eventSeq = eventSeq + 1
  WHERE id = :space AND EXISTS (SELECT 1 FROM decision AS d WHERE d.outcome = 'DONE');
UPDATE session SET status = :status, updatedAt = (SELECT now FROM decision),
  eventSeq = (SELECT eventSeq FROM space WHERE id = :space),
  memorySeq = CASE WHEN :status = 'ACTIVE' AND memory IS NOT NULL THEN (SELECT eventSeq FROM space WHERE id = :space) ELSE memorySeq END
WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
INSERT INTO task (key, spaceId, sk, sessionId, kind, requested, dueAt)
  SELECT r.spaceId || '/' || r.kind || ':' || r.sessionId, r.spaceId, r.sk, r.sessionId, r.kind, :op, d.now
  FROM decision AS d JOIN task_trigger AS r ON r.raisedBy = :key
  WHERE d.outcome = 'DONE' AND r."trigger" = 'ON_ARCHIVE' AND :status = 'ARCHIVED'
  ON CONFLICT (key) DO UPDATE SET requested = excluded.requested, dueAt = coalesce(dueAt, excluded.dueAt);
SELECT d.outcome, (SELECT count(*) FROM task AS k WHERE k.requested = :op
    AND k.key IN (s.spaceId || '/CONSOLIDATE:' || s.id, s.spaceId || '/INTEGRATE:' || s.rootId)) AS due, s.* FROM decision AS d JOIN session AS s ON s.key = :key;
