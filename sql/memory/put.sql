-- purpose: Writes a session's digest.
-- access: write
-- params: space, key, id, op, eventKey, data, content, terms
-- returns: outcome, session.*
-- unused: op
-- json: tags
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM topology_event WHERE key = :eventKey) THEN 'DONE_BEFORE'
    WHEN s.status = 'ARCHIVED' THEN 'ARCHIVED'
    ELSE 'DONE' END, clock.now
  FROM clock JOIN session AS s ON s.key = :key;
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, 'MEMORY_UPDATED', :id, :data, d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE space SET eventSeq = eventSeq + 1
  WHERE id = :space AND EXISTS (SELECT 1 FROM decision AS d WHERE d.outcome = 'DONE');
UPDATE session SET memory = :content, memoryRevision = memoryRevision + 1,
  updatedAt = (SELECT now FROM decision), eventSeq = (SELECT eventSeq FROM space WHERE id = :space),
  memorySeq = CASE WHEN memory = :content THEN memorySeq ELSE (SELECT eventSeq FROM space WHERE id = :space) END
WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
INSERT INTO searchable (key, scope, terms)
  SELECT :key, 'MEMORY', :terms FROM decision WHERE outcome = 'DONE'
  ON CONFLICT (key, scope) DO UPDATE SET terms = excluded.terms;
SELECT d.outcome, s.* FROM decision AS d JOIN session AS s ON s.key = :key;
